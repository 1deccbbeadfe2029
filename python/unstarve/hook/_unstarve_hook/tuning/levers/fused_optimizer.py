"""One kernel for the step of all parameters, where torch has one for this optimizer and device."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = False
_KINDS = ("Adam", "AdamW", "SGD")


def check(job: Any, settings: dict[str, Any]) -> None:
    optimizers = job.optimizers
    if not optimizers:
        raise LeverRefusedError("no optimizer of torch was made")
    for optimizer in optimizers:
        _check_one(job, optimizer)


def _check_one(job: Any, optimizer: Any) -> None:
    kind = type(optimizer)
    if kind.__name__ not in _KINDS or not kind.__module__.startswith("torch.optim"):
        raise LeverRefusedError(f"torch has no fused {kind.__name__}")
    if "fused" not in optimizer.defaults:
        raise LeverRefusedError(f"this torch has no fused {kind.__name__}")
    if any(group.get("fused") for group in optimizer.param_groups):
        raise LeverRefusedError("it is fused already")
    if any(group.get("differentiable") for group in optimizer.param_groups):
        raise LeverRefusedError("the optimizer is differentiable")
    if optimizer.state:
        raise LeverRefusedError("the optimizer has a state from before")
    try:
        own = job.torch.nn.Parameter(job.torch.zeros(1, device=job.device))
        kind([own], lr=0.1, fused=True)
    except (RuntimeError, TypeError, ValueError) as error:
        raise LeverRefusedError(str(error).split("\n")[0][:160]) from None


def apply(job: Any, settings: dict[str, Any]) -> None:
    for optimizer in job.optimizers:
        for group in (optimizer.defaults, *optimizer.param_groups):
            group["fused"] = True
            group["foreach"] = False
        optimizer._step_supports_amp_scaling = True
