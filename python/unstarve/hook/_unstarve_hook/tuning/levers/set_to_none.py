"""zero_grad() drops gradients where the script has it fill them with zeros."""

from __future__ import annotations

import functools
import sys
from typing import Any

from ...wrap import put
from ..refusal import LeverRefusedError

NEEDS_ROOT = False
NEEDS_HABITS = True


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.habits is None:  # a trial: the survey has seen the calls
        return
    if not job.habits.zeroing:
        raise LeverRefusedError("no zero_grad() was called in the first steps")
    if False not in job.habits.zeroing:
        raise LeverRefusedError("the script sets gradients to None already")


def apply(job: Any, settings: dict[str, Any]) -> None:
    for holder in holders(job.torch):
        put(holder, "zero_grad", _dropping(holder.zero_grad))
    job.before_updates.append(_Lookout(job))


class _Lookout:
    """An optimizer passes over what has no gradient, while zeros have it go on by its momentum, by
    Adam's moments, by weight decay: of heads that take turns, experts, layers that are frozen."""

    def __init__(self, job: Any) -> None:
        self._job = job
        self._had: set[int] = set()
        self._is_over = False

    def __call__(self, optimizer: Any) -> None:
        if self._is_over:
            return
        for group in getattr(optimizer, "param_groups", ()):
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._had.add(id(parameter))
                elif id(parameter) in self._had:
                    self._is_over = True
                    self._job.withdraw("set_to_none", _MISSING)
                    return


_MISSING = (
    "a parameter that is trained got no gradient in a step: zeros would have moved it all the same"
)


def holders(torch: Any) -> tuple[Any, ...]:
    """The classes whose zero_grad() it is."""
    optimizers: Any = sys.modules["torch.optim.optimizer"]  # not always an attribute
    return (optimizers.Optimizer, torch.nn.Module)


def _dropping(original: Any) -> Any:
    @functools.wraps(original)  # with its signature: accelerate looks at that
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        original(self, set_to_none=True)

    return zero_grad
