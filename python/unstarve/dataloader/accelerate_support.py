"""Keeps unstarve's loader when Accelerate prepares it.

`Accelerator.prepare` makes a new loader of the class that its module knows as DataLoader, torch's.
Where Accelerate is loaded, that name is put in front of both classes here: a data set that came
with one of our loaders gets ours again, every other one torch's, and `isinstance` means what it
meant.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from torch.utils.data import DataLoader as TorchLoader

# By id: a data set need not be hashable. Entries go with their data sets.
_ours: dict[int, tuple[weakref.ref[Any], type]] = {}


class _EitherKind(type):
    def __call__(cls, dataset: Any, *arguments: Any, **named: Any) -> Any:
        known = _ours.get(id(dataset))
        kind = known[1] if known is not None and known[0]() is dataset else TorchLoader
        return kind(dataset, *arguments, **named)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TorchLoader)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, TorchLoader)


class EitherLoader(metaclass=_EitherKind):
    """Stands for torch's DataLoader in `accelerate.data_loader`."""


def remember(loader: Any) -> None:
    """Called for each of our loaders when it is made."""
    module = sys.modules.get("accelerate.data_loader")
    if module is None:
        return
    key = id(loader.dataset)
    try:
        reference = weakref.ref(loader.dataset, lambda _: _ours.pop(key, None))
    except TypeError:  # a list, say: torch's loader will do
        return
    _ours[key] = (reference, type(loader))
    if getattr(module, "DataLoader", None) is TorchLoader:
        module.DataLoader = EitherLoader  # type: ignore[attr-defined]
