"""cuDNN tries its algorithms on the first convolution of each shape."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    torch = job.torch
    if job.device != "cuda":
        raise LeverRefusedError("the job does not train on a CUDA device")
    if torch.backends.cudnn.benchmark:
        raise LeverRefusedError("the script has set it already")
    if torch.backends.cudnn.deterministic or torch.are_deterministic_algorithms_enabled():
        raise LeverRefusedError("the script asks for deterministic algorithms")
    if not any("Conv" in type(module).__name__ for module in job.root.modules()):
        raise LeverRefusedError("the model has no convolution")


def apply(job: Any, settings: dict[str, Any]) -> None:
    job.torch.backends.cudnn.benchmark = True
