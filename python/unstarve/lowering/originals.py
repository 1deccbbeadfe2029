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

#: Modules whose decorators wrap some of their methods.
_DECORATORS = ("contextlib", "albucore.decorators")

_LIBRARIES = ("torchvision.", "torch.utils.data.", "timm.", "datasets.", "albumentations.")


def is_own(function: Any, module: Any, *names: str) -> bool:
    """Whether `function` was written in `module` under one of `names`."""
    return (
        isinstance(function, FunctionType)
        and function.__globals__ is vars(module)
        and function.__code__.co_name in names
    )


def is_plain(part: Any) -> bool:
    """No method of the object itself, no module hook and no exchanged method of the class, or of
    those of the libraries that it inherits from, changes what it does."""
    own = vars(part) if hasattr(part, "__dict__") else {}
    # torch asks data sets whether they have the former.
    if any(name == "__getitems__" or callable(getattr(type(part), name, None)) for name in own):
        return False
    if any(own.get(name) for name in ("_forward_hooks", "_forward_pre_hooks")):
        return False
    return all(has_own_methods(base) for base in type(part).__mro__)


def has_own_methods(kind: type) -> bool:
    """Whether no method that a class of one of the libraries defines has been exchanged."""
    library = next((name for name in _LIBRARIES if kind.__module__.startswith(name)), None)
    if library is None:
        return True
    for name, value in vars(kind).items():
        method = getattr(value, "__func__", value)  # of a staticmethod or classmethod
        method = getattr(method, "unstarve_original", method)  # which we exchange in our workers
        if name in _HARMLESS or isinstance(method, type) or not callable(method):
            continue
        if not isinstance(method, FunctionType):
            return False
        module = str(method.__globals__.get("__name__"))
        if not module.startswith(library) and module not in _DECORATORS:
            return False
    return True


__all__ = ["has_own_methods", "is_own", "is_plain"]
