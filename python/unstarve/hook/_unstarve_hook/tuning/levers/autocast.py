"""What the autocasting levers share: the model's forward in fewer bits, its results in float32, so
that the script computes its loss as before."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError


def in_use(torch: Any, device: str) -> bool:
    """Whether the script autocasts here."""
    if device == "cuda":
        return bool(torch.is_autocast_enabled())
    try:
        return bool(torch.is_autocast_enabled("cpu"))
    except TypeError:  # before torch 2.4
        return bool(torch.is_autocast_cpu_enabled())


def check(job: Any) -> None:
    torch = job.torch
    if job.device not in ("cpu", "cuda"):
        raise LeverRefusedError(f"the job trains on {job.device}")
    if in_use(torch, job.device):
        raise LeverRefusedError("the script autocasts already")
    if not any(parameter.dtype is torch.float32 for parameter in job.root.parameters()):
        raise LeverRefusedError("nothing in the model is float32")


def wrap(job: Any, dtype: Any) -> None:
    torch, device = job.torch, job.device

    def around(call: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        with torch.autocast(device, dtype=dtype):
            result = call(*arguments, **named)
        return in_float32(result, dtype)

    job.around_forward(around)


def in_float32(result: Any, dtype: Any, depth: int = 0) -> Any:
    if getattr(result, "dtype", None) is dtype and hasattr(result, "float"):
        return result.float()
    if depth > 3:
        return result
    if isinstance(result, dict):  # also the outputs of transformers' models
        for key in list(result):
            result[key] = in_float32(result[key], dtype, depth + 1)
    elif isinstance(result, tuple):
        parts = [in_float32(one, dtype, depth + 1) for one in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    elif isinstance(result, list):
        return [in_float32(one, dtype, depth + 1) for one in result]
    return result
