"""The model in FP64: no lever, but what the first gradients of levers are held against."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    if not any(one.is_floating_point() for one in job.root.parameters()):
        raise LeverRefusedError("nothing in the model is a floating-point number")


def apply(job: Any, settings: dict[str, Any]) -> None:
    torch = job.torch
    job.root.double()

    def around(call: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return call(*_in_float64(torch, arguments), **_in_float64(torch, named))

    job.around_forward(around)


def _in_float64(torch: Any, thing: Any) -> Any:
    if isinstance(thing, torch.Tensor):
        return thing.double() if thing.is_floating_point() else thing
    if isinstance(thing, dict):
        return {key: _in_float64(torch, one) for key, one in thing.items()}
    if isinstance(thing, (list, tuple)) and not hasattr(thing, "_fields"):
        return type(thing)(_in_float64(torch, one) for one in thing)
    return thing
