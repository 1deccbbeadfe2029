"""albumentations in a worker process: its transforms of arrays that are not decoded yet.

Its own `Compose` runs and draws, so random numbers are those that it would have drawn. Crops and
flips in front of everything else are remembered. The first transform that wants pixels gets what is
left of the image, decoded; one that crops and resizes gets the crop. All of them compute the values
themselves, except `Normalize`, in whose place one pass gives the same numbers to the bit.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unstarve.engine.arrays.late_array import LateArray, Waiting
from unstarve.engine.tensor_functions import native
from unstarve.lowering.originals import has_own_methods

#: Results of each kind of transform that are made of all pixels too.
_COMPARED = 3

#: A transform, the image and what was drawn: None where the transform itself has to do it.
_Rule = Callable[[Any, Any, dict[str, Any]], Any]


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
        #: What we do of late arrays, and of NumPy's.
        self.late: dict[type, _Kind] = {}
        self.here: dict[type, _Kind] = {}
        #: By kind: results that are still compared, None where they differ.
        self.left_to_compare: dict[type, int | None] = {}
        #: The data set makes several views of each image.
        self.makes_views = False
        #: Compositions of transforms, which do nothing themselves.
        self.containers: tuple[type, ...] = ()


_library = _Library()


def look() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """What is to be exchanged: where each method is, and what makes ours of it."""
    import albumentations as library

    base = library.core.transforms_interface.BasicTransform
    if not has_own_methods(library.Compose) or not has_own_methods(base):
        return []
    for rules, known in ((_LATE, _library.late), (_HERE, _library.here)):
        for name, rule in rules.items():
            kind = getattr(library, name)
            if all(map(has_own_methods, kind.__mro__)):
                known[kind] = _Kind(rule, kind.apply)
    _library.composition, _library.transform = library.Compose, base
    names = ("Compose", "OneOf", "SomeOf", "RandomOrder", "OneOrOther", "Sequential")
    kinds = (getattr(library, name) for name in names)
    _library.containers = tuple(kind for kind in kinds if has_own_methods(kind))
    return [
        (library.Compose, "__call__", _compose),
        (base, "__call__", _transform),
        (base, "apply_with_params", _apply),
    ]


def is_known(composition: Any) -> bool:
    """Whether an array may be given to it that is not decoded yet."""
    if type(composition) is not _library.composition or not composition.transforms:
        return False
    return not _has_methods(composition) and _has_known_calls(composition)


def _has_methods(part: Any) -> bool:
    """Whether it has methods of its own in the place of its class's."""
    kind: Any = type(part)
    return not _methods_of(kind).isdisjoint(vars(part))


@functools.cache
def _methods_of(kind: Any) -> frozenset[str]:
    return frozenset(name for name in dir(kind) if callable(getattr(kind, name, None)))


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
        late.views += 1
        _library.makes_views = _library.makes_views or late.views > 1
        if given or _library.makes_views or not is_known(composition):
            return original(composition, *given, **{**data, "image": late.pixels()})
        data["image"] = Waiting.of(late)
        made = original(composition, **data)
        if type(made.get("image")) is Waiting:
            made["image"] = made["image"].late.pixels()
        return made

    return call


def _transform(original: Any) -> Any:
    def call(transform: Any, *given: Any, **data: Any) -> Any:
        waiting = data.get("image")
        if type(waiting) is Waiting and _rule_of(transform, _library.late) is None:
            data["image"] = waiting.late.pixels()
        return original(transform, *given, **data)

    return call


def _rule_of(transform: Any, kinds: dict[type, _Kind]) -> _Rule | None:
    """None where we know nothing about it, or not what the script made of it."""
    kind = kinds.get(type(transform))
    if kind is None or _has_methods(transform):
        return None
    applied = transform._key2func.get("image")
    is_own = getattr(applied, "__func__", None) is kind.apply is type(transform).apply
    return kind.rule if is_own else None


def _apply(original: Any) -> Any:
    def apply(transform: Any, params: dict[str, Any], *given: Any, **data: Any) -> Any:
        image = data.get("image")
        kinds = _library.here
        if type(image) is Waiting:
            image, kinds = image.late, _library.late
        rule = _rule_of(transform, kinds)
        if rule is None:
            return original(transform, params, *given, **data)
        image = _applied(transform, rule, image, params)
        if image is None:
            return original(transform, params, *given, **data)
        others = {name: value for name, value in data.items() if name != "image"}
        made = original(transform, params, *given, **others)
        return {name: image if name == "image" else made[name] for name in data}

    return apply


def _applied(transform: Any, rule: _Rule, image: Any, params: dict[str, Any]) -> Any:
    """The image behind the transform, which may still wait; None where we make nothing of an array
    that is here."""
    kind = type(transform)
    left = _library.left_to_compare.setdefault(kind, _COMPARED)
    made = None
    if left is not None:
        with contextlib.suppress(Exception):  # albumentations says what is wrong
            made = rule(transform, image, dict(params))
    if made is None and type(image) is not LateArray:
        return None
    if made is not None and left == 0:
        return Waiting.of(made) if isinstance(made, LateArray) else made
    expected = np.ascontiguousarray(transform.apply(_pixels_of(image), **params))
    if made is not None and left is not None:
        is_same = _is_same(_pixels_of(made), expected)
        _library.left_to_compare[kind] = left - 1 if is_same else None
    return expected


def _pixels_of(image: Any) -> Any:
    return image.pixels() if type(image) is LateArray else image


def _is_same(one: Any, other: Any) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other)


def _crop(_transform: Any, late: LateArray, params: dict[str, Any]) -> Any:
    if params.get("pad_params") is not None:
        return None
    return late.cropped(*params["crop_coords"])


def _resized_crop(transform: Any, late: LateArray, params: dict[str, Any]) -> Any:
    part = late.cropped(*params.pop("crop_coords"))
    if part is None:
        return None
    height, width, _ = part.shape
    made = transform.apply(part.pixels(), crop_coords=(0, 0, width, height), **params)
    return np.ascontiguousarray(made)


def _pad(_transform: Any, late: LateArray, params: dict[str, Any]) -> Any:
    sides = (params[f"pad_{side}"] for side in ("top", "bottom", "left", "right"))
    return None if any(sides) else late


def _flip(_transform: Any, late: LateArray, _params: dict[str, Any]) -> Any:
    return late.flipped()


def _flip_vertically(_transform: Any, late: LateArray, _params: dict[str, Any]) -> Any:
    return late.flipped_vertically()


def _normalise(transform: Any, image: Any, _params: dict[str, Any]) -> Any:
    is_image = type(image) is np.ndarray and image.dtype == np.uint8 and image.ndim == 3
    if not is_image or image.shape[2] != 3 or transform.normalization != "standard":
        return None
    mean, factor = transform.mean_np, transform.denominator
    if not all(_are_three(values) for values in (mean, factor)):
        return None
    made = np.empty(image.shape, np.float32)
    values = np.ascontiguousarray(image).reshape(-1)
    native().normalise_bytes(values, tuple(mean), tuple(factor), made.reshape(-1))
    return made


def _are_three(values: Any) -> bool:
    return type(values) is np.ndarray and values.shape == (3,) and values.dtype == np.float32


_LATE: dict[str, _Rule] = {
    "RandomResizedCrop": _resized_crop,
    "RandomSizedCrop": _resized_crop,
    "RandomCrop": _crop,
    "CenterCrop": _crop,
    "PadIfNeeded": _pad,
    "HorizontalFlip": _flip,
    "VerticalFlip": _flip_vertically,
}
_HERE: dict[str, _Rule] = {"Normalize": _normalise}


__all__ = ["is_known", "look"]
