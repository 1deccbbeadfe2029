"""What stands in the place of a model's forward while a lever is applied."""

from __future__ import annotations

import functools
from typing import Any


class Forward:
    """An attribute of the module, in front of its class's method. Who pickles or copies the module,
    as scripts do that save it whole or keep an average of it, gets that method."""

    def __init__(self, module: Any, call: Any) -> None:
        self.module = module
        self.call = call
        functools.update_wrapper(self, call, updated=())

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.call(*arguments, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.module, "forward")


def function_of(module: Any) -> Any:
    """The module's forward, without one of ours around it."""
    forward = module.forward
    return forward.call if isinstance(forward, Forward) else forward
