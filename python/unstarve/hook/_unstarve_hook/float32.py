"""In how many bits torch multiplies float32, by its older switches (`allow_tf32`,
`set_float32_matmul_precision`) and its newer ones (`fp32_precision`, torch 2.9 and later). Once a
script has set a newer one, torch raises where an older one is asked."""

from __future__ import annotations

from typing import Any

_OLDER = {
    ("cuda", "matmul"): "_get_cublas_allow_tf32",
    ("cuda", "conv"): "_get_cudnn_allow_tf32",
}
_NOT_SET = "none"


def precision(torch: Any, backend: str, operation: str) -> str:
    """ "tf32", "bf16", "ieee", or "none" where no switch was set. `backend`: "cuda" or "mkldnn",
    `operation`: "matmul" or "conv"."""
    newer = getattr(torch._C, "_get_fp32_precision_getter", None)
    found = str(newer(backend, operation)) if newer is not None else _NOT_SET
    if found != _NOT_SET:
        return found
    try:
        if (backend, operation) in _OLDER:
            allows = getattr(torch._C, _OLDER[backend, operation])
            return "tf32" if allows() else _NOT_SET
        return {"medium": "bf16"}.get(torch.get_float32_matmul_precision(), _NOT_SET)
    except RuntimeError:  # A newer one is set, of another backend.
        return _NOT_SET
