"""The model's forward in FP16, for a script that scales its loss."""

from __future__ import annotations

import gc
from typing import Any

from ..refusal import LeverRefusedError
from . import autocast

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.device != "cuda":
        raise LeverRefusedError("FP16 is for a CUDA device")
    autocast.check(job)
    if not any(_scales(thing) for thing in gc.get_objects()):
        raise LeverRefusedError("the script has no GradScaler, without which gradients vanish")


def _scales(thing: Any) -> bool:
    kind = type(thing)
    is_scaler = kind.__name__ == "GradScaler" and kind.__module__.startswith("torch.")
    return is_scaler and bool(thing.is_enabled())


def apply(job: Any, settings: dict[str, Any]) -> None:
    autocast.wrap(job, job.torch.float16)
