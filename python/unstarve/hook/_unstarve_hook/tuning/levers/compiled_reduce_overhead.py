"""torch.compile that records CUDA graphs of the model."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError
from . import compiled

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.device != "cuda":
        raise LeverRefusedError("CUDA graphs are for a CUDA device")
    compiled.check(job, settings)


def apply(job: Any, settings: dict[str, Any]) -> None:
    job.compile_forward(mode="reduce-overhead")
