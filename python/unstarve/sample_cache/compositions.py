"""Transforms that do one step after the other, whose steps may be done by parts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from torch.utils.data import Subset

#: Classes that do nothing but one step after the other, by module and name.
_IN_TURN = frozenset(
    [
        ("torchvision.transforms.transforms", "Compose"),
        ("torchvision.transforms.v2._container", "Compose"),
        ("torch.nn.modules.container", "Sequential"),
    ]
)
#: What albumentations' Compose changes only by its steps.
_IMAGES = frozenset(("image", "mask"))


class Call(NamedTuple):
    """What a step, or all of them, are given."""

    arguments: tuple[Any, ...]
    named: dict[str, Any]


class Marker:
    """A step that changes nothing and tells what it was given."""

    p = 1.0
    params = None  # as albumentations' steps have them

    def __init__(self, tell: Callable[[Call], None]) -> None:
        self._tell = tell

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self._tell(Call(arguments, named))
        return arguments[0] if arguments else named


class Composition:
    """One transform; each step is given what the step before it gave, and nothing else."""

    def __init__(self, transform: Any) -> None:
        listed = getattr(transform, "transforms", None)
        self._transform = transform
        self.steps = list(listed) if isinstance(listed, list) else list(transform.children())

    def run(self, steps: Sequence[Any], call: Call) -> Any:
        """As the transform, with `steps` in the place of its own."""
        (value,) = call.arguments
        for step in steps:
            value = step(value)
        return value

    def draws_itself(self) -> bool:
        """Whether it draws a number before its first step, so that it has to be run each time."""
        return False

    def may_begin_with(self, call: Call) -> bool:
        """Whether it takes this, which one of its steps gave, for its first one."""
        return True


class _OfLibrary(Composition):
    """One whose own code stands around its steps."""

    def run(self, steps: Sequence[Any], call: Call) -> Any:
        attributes = self._transform.__dict__
        own = attributes["transforms"]
        attributes["transforms"] = list(steps)
        try:
            return self._transform(*call.arguments, **call.named)
        finally:
            attributes["transforms"] = own

    def draws_itself(self) -> bool:
        return True


class _OfAlbumentations(_OfLibrary):
    def may_begin_with(self, call: Call) -> bool:
        # What it makes of others it makes once. Tensors it refuses.
        array: Any = sys.modules["numpy"].ndarray
        are_arrays = all(isinstance(value, array) for value in call.named.values())
        return are_arrays and call.named.keys() <= _IMAGES


def composition_of(transform: Any) -> Composition | None:
    kind = (type(transform).__module__, type(transform).__name__)
    if kind in _IN_TURN:
        return None if getattr(transform, "_forward_hooks", {}) else Composition(transform)
    own = getattr(transform, "__dict__", {})
    if own.get("p") != 1.0 or not isinstance(own.get("transforms"), list):
        return None
    if kind == ("albumentations.core.composition", "Compose"):
        # Boxes are made relative and absolute again around the steps.
        has_more = own.get("processors") or own.get("save_applied_params")
        return None if has_more else _OfAlbumentations(transform)
    if kind == ("audiomentations.core.composition", "Compose"):
        is_plain = own.get("shuffle") is False and not own.get("are_parameters_frozen")
        return _OfLibrary(transform) if is_plain else None
    return None


class Place(NamedTuple):
    """Where a data set holds its transform."""

    attributes: dict[str, Any]
    name: str
    composition: Composition


def place_of(dataset: Any) -> Place | None:
    """`transform`, or the only attribute that is a composition."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    attributes = getattr(dataset, "__dict__", {})
    known = {name: composition_of(value) for name, value in attributes.items()}
    found = [Place(attributes, name, made) for name, made in known.items() if made is not None]
    named = [place for place in found if place.name == "transform"]
    places = named or found
    return places[0] if len(places) == 1 else None


__all__ = ["Call", "Composition", "Marker", "Place", "composition_of", "place_of"]
