"""Whether functions and classes of other libraries still do what those libraries wrote.

Scripts exchange what they need changed: `torchvision.datasets.folder.pil_loader = mine`, or the
`__call__` of a class. What has been exchanged is not what the engine knows. A function is the
library's own if its globals are, which those of a script's function are not, however it is named
or wrapped.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

# Exchanged, they change nothing about a sample.
_HARMLESS = frozenset({"__init__", "__new__", "__repr__", "__len__", "extra_repr"})


def is_own(function: Any, module: Any, *names: str) -> bool:
    """Whether `function` was written in `module` under one of `names`."""
    return (
        isinstance(function, FunctionType)
        and function.__globals__ is vars(module)
        and function.__code__.co_name in names
    )


def as_defined(kind: type) -> bool:
    """Whether no method of `kind`, a class of torchvision, has been exchanged, in it or in those of
    torchvision that it inherits from."""
    return all(_has_own_methods(base) for base in kind.__mro__)


def is_plain(part: Any) -> bool:
    """No method of the object itself, no module hook and no exchanged method of the class changes
    what the class does."""
    own = vars(part) if hasattr(part, "__dict__") else {}
    if "forward" in own or "transform" in own or "__call__" in own:
        return False
    hooks = ("_forward_hooks", "_forward_pre_hooks")
    return not any(own.get(name) for name in hooks) and as_defined(type(part))


def _has_own_methods(kind: type) -> bool:
    if not kind.__module__.startswith("torchvision."):
        return True
    for name, value in vars(kind).items():
        method = getattr(value, "__func__", value)  # of a staticmethod or classmethod
        if name in _HARMLESS or isinstance(method, type) or not callable(method):
            continue
        if not isinstance(method, FunctionType):
            return False
        if not str(method.__globals__.get("__name__")).startswith("torchvision."):
            return False
    return True


__all__ = ["as_defined", "is_own", "is_plain"]
