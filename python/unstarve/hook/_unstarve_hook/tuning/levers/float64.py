"""The model in FP64: no lever, but what the first gradients of levers are held against."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

from ..refusal import LeverRefusedError
from .autocast import like_tuple

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
    if isinstance(thing, tuple):
        return like_tuple(thing, [_in_float64(torch, one) for one in thing])
    if isinstance(thing, list):
        return [_in_float64(torch, one) for one in thing]
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return _fields_in_float64(torch, thing)
    return thing


def _fields_in_float64(torch: Any, thing: Any) -> Any:
    copied = copy.copy(thing)
    for field in dataclasses.fields(thing):
        part = getattr(thing, field.name, None)
        object.__setattr__(copied, field.name, _in_float64(torch, part))
    return copied
