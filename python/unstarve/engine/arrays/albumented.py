"""albumentations in a worker process: its transforms of arrays that are not decoded yet.

Its own `Compose` runs and draws, so random numbers are those that it would have drawn. Crops and
flips in front of everything else are remembered. The first transform that wants pixels gets what is
left of the image, decoded; one that crops and resizes gets the crop. All of them compute the values
themselves, so these are the same to the bit.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unstarve.engine.arrays.late_array import LateArray, Waiting
from unstarve.lowering.originals import has_own_methods

#: Of albumentations; others may do otherwise.
_VERSIONS = frozenset({"2.0.8"})
#: Results of each kind of transform that are made of all pixels too.
_COMPARED = 3
#: What a transform itself may have in the place of its class's.
_METHODS = frozenset(
    {"__call__", "apply", "apply_with_params", "get_params_dependent_on_data", "should_apply"}
)

#: A transform, the image and what was drawn: None where pixels are needed first.
_Rule = Callable[[Any, LateArray, dict[str, Any]], Any]


class _Kind(NamedTuple):
    """Of transforms."""

    rule: _Rule
    #: The class's own `apply`.
    apply: Any


class _Library:
    """albumentations, as this process has it."""

    def __init__(self) -> None:
        self.composition: Any = None
        self.transform: Any = None
        self.kinds: dict[type, _Kind] = {}
        #: By kind: results that are still compared, None where they differ.
        self.left_to_compare: dict[type, int | None] = {}
        #: Compositions of transforms, which do nothing themselves.
        self.containers: tuple[type, ...] = ()


_library = _Library()


def is_there() -> bool:
    """Whether the process has loaded an albumentations that is known here, and OpenCV."""
    version = getattr(sys.modules.get("albumentations"), "__version__", None)
    return version in _VERSIONS and "cv2" in sys.modules


def look() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """What is to be exchanged: where each method is, and what makes ours of it."""
    import albumentations as library

    base = library.core.transforms_interface.BasicTransform
    if not has_own_methods(library.Compose) or not has_own_methods(base):
        return []
    for name, rule in _RULES.items():
        kind = getattr(library, name)
        if all(map(has_own_methods, kind.__mro__)):
            _library.kinds[kind] = _Kind(rule, kind.apply)
    _library.composition, _library.transform = library.Compose, base
    names = ("Compose", "OneOf", "SomeOf", "RandomOrder", "OneOrOther", "Sequential")
    _library.containers = tuple(getattr(library, name) for name in names)
    return [
        (library.Compose, "__call__", _compose),
        (base, "__call__", _transform),
        (base, "apply_with_params", _apply),
    ]


def is_known(composition: Any) -> bool:
    """Whether an array may be given to it that is not decoded yet."""
    if type(composition) is not _library.composition or not composition.transforms:
        return False
    return _METHODS.isdisjoint(vars(composition)) and _has_known_calls(composition)


def _has_known_calls(container: Any) -> bool:
    base = _library.transform
    for part in container.transforms:
        kind = type(part)
        if kind in _library.containers:
            if not _has_known_calls(part):
                return False
        elif (
            not isinstance(part, base)
            or kind.__call__ is not base.__call__
            or kind.apply_with_params is not base.apply_with_params
        ):
            return False
    return True


def _compose(original: Any) -> Any:
    def call(composition: Any, *given: Any, **data: Any) -> Any:
        late = data.get("image")
        if type(late) is not LateArray:
            return original(composition, *given, **data)
        if given or not is_known(composition):
            return original(composition, *given, **{**data, "image": np.asarray(late)})
        data["image"] = Waiting.of(late)
        made = original(composition, **data)
        if type(made.get("image")) is Waiting:
            made["image"] = np.asarray(made["image"].late)
        return made

    return call


def _transform(original: Any) -> Any:
    def call(transform: Any, *given: Any, **data: Any) -> Any:
        waiting = data.get("image")
        if type(waiting) is Waiting and not _is_known_kind(transform):
            data["image"] = np.asarray(waiting.late)
        return original(transform, *given, **data)

    return call


def _is_known_kind(transform: Any) -> bool:
    kind = _library.kinds.get(type(transform))
    if kind is None or not _METHODS.isdisjoint(vars(transform)):
        return False
    applied = transform._key2func.get("image")
    return getattr(applied, "__func__", None) is kind.apply is type(transform).apply


def _apply(original: Any) -> Any:
    def apply(transform: Any, params: dict[str, Any], *given: Any, **data: Any) -> Any:
        waiting = data.get("image")
        if type(waiting) is not Waiting:
            return original(transform, params, *given, **data)
        image = _applied(transform, waiting.late, params)
        others = {name: value for name, value in data.items() if name != "image"}
        made = original(transform, params, *given, **others)
        return {name: image if name == "image" else made[name] for name in data}

    return apply


def _applied(transform: Any, late: LateArray, params: dict[str, Any]) -> Any:
    """The image behind the transform: still waiting, or an array."""
    kind = type(transform)
    rule = _library.kinds[kind].rule
    left = _library.left_to_compare.setdefault(kind, _COMPARED)
    made = None
    if left is not None:
        with contextlib.suppress(Exception):  # albumentations says what is wrong
            made = rule(transform, late, dict(params))
    if made is not None and left == 0:
        return Waiting.of(made) if isinstance(made, LateArray) else made
    expected = np.ascontiguousarray(transform.apply(np.asarray(late), **params))
    if made is not None and left is not None:
        is_same = np.array_equal(np.asarray(made), expected)
        _library.left_to_compare[kind] = left - 1 if is_same else None
    return expected


def _crop(_transform: Any, late: LateArray, params: dict[str, Any]) -> Any:
    if params.get("pad_params") is not None:
        return None
    return late.cropped(*params["crop_coords"])


def _resized_crop(transform: Any, late: LateArray, params: dict[str, Any]) -> Any:
    part = late.cropped(*params.pop("crop_coords"))
    if part is None:
        return None
    height, width, _ = part.shape
    made = transform.apply(np.asarray(part), crop_coords=(0, 0, width, height), **params)
    return np.ascontiguousarray(made)


def _pad(_transform: Any, late: LateArray, params: dict[str, Any]) -> Any:
    sides = (params[f"pad_{side}"] for side in ("top", "bottom", "left", "right"))
    return None if any(sides) else late


def _flip(_transform: Any, late: LateArray, _params: dict[str, Any]) -> Any:
    return late.flipped()


def _flip_vertically(_transform: Any, late: LateArray, _params: dict[str, Any]) -> Any:
    return late.flipped_vertically()


_RULES: dict[str, _Rule] = {
    "RandomResizedCrop": _resized_crop,
    "RandomSizedCrop": _resized_crop,
    "RandomCrop": _crop,
    "CenterCrop": _crop,
    "PadIfNeeded": _pad,
    "HorizontalFlip": _flip,
    "VerticalFlip": _flip_vertically,
}


__all__ = ["is_known", "is_there", "look"]
