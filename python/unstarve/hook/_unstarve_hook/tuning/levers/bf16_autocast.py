"""The model's forward in BF16 where torch thinks that safe."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError
from . import autocast

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    autocast.check(job)
    if job.device == "cuda" and not job.torch.cuda.is_bf16_supported():
        raise LeverRefusedError("the GPU has no BF16")


def apply(job: Any, settings: dict[str, Any]) -> None:
    autocast.wrap(job, job.torch.bfloat16)
