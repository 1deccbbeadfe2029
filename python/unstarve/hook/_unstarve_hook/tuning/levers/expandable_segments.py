"""An allocator of GPU memory that grows segments; a variable of the environment."""

from __future__ import annotations

import os
from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = False
_VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.device != "cuda":
        raise LeverRefusedError("the job does not train on a CUDA device")
    if not settings and (_VARIABLE in os.environ or "PYTORCH_ALLOC_CONF" in os.environ):
        raise LeverRefusedError("the job's environment configures the allocator already")


def apply(job: Any, settings: dict[str, Any]) -> None:
    if "expandable_segments" not in os.environ.get(_VARIABLE, ""):
        raise LeverRefusedError("the job's environment was changed before Python started")
