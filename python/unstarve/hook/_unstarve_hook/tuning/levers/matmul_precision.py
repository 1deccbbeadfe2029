"""Products of float32 matrices in fewer bits: TF32 on a GPU, BF16 by oneDNN on a CPU."""

from __future__ import annotations

from typing import Any

from ...float32 import precision
from ..refusal import LeverRefusedError
from .autocast import in_use

NEEDS_ROOT = False


def check(job: Any, settings: dict[str, Any]) -> None:
    torch = job.torch
    backend = "cuda" if job.device == "cuda" else "mkldnn"
    if precision(torch, backend, "matmul") != "none":
        raise LeverRefusedError("the script has set a precision already")
    if in_use(torch, job.device, job.root):
        raise LeverRefusedError("the script autocasts already")
    if not any(parameter.dtype is torch.float32 for parameter in job.parameters()):
        raise LeverRefusedError("nothing that is trained is float32")
    if job.device == "cuda":
        if torch.cuda.get_device_capability()[0] < 8:
            raise LeverRefusedError("the GPU has no TF32")
    elif not _cpu_has_bf16(torch):
        raise LeverRefusedError("the CPU has no instructions for BF16")


def apply(job: Any, settings: dict[str, Any]) -> None:
    job.torch.set_float32_matmul_precision("high" if job.device == "cuda" else "medium")


def _cpu_has_bf16(torch: Any) -> bool:
    """Nothing is gained by emulating it; what cannot be asked is tried."""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("flags"):
                return "avx512_bf16" in line or "amx_bf16" in line
    return True
