"""tv_tensors.Image of an image that nobody has decoded: it is when an operation wants its pixels.

torchvision's second transforms draw once for an image and the masks and boxes that go with it. They
go on doing so; of the image, crops, sizes and flips are remembered until its pixels are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode, v2

from unstarve.engine.cut import Cut
from unstarve.engine.opened_image import OpenedImage, file_of, here, pixels_of

functional: Any = v2.functional
_BILINEAR = InterpolationMode.BILINEAR
_INTERPOLATIONS = {
    InterpolationMode.BILINEAR: False,
    InterpolationMode.BICUBIC: True,
    "bilinear": False,
    "bicubic": True,
}
#: What a tensor says of itself without its numbers.
_WITHOUT_PIXELS = (
    torch.Tensor.size,
    torch.Tensor.dim,
    torch.Tensor.numel,
    torch.Tensor.is_floating_point,
)


class _Kind(type(tv_tensors.Image)):
    """Tables by class, as of `ToDtype({tv_tensors.Image: ...})`, have it under its base."""

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is tv_tensors.Image

    def __hash__(cls) -> int:
        return hash(tv_tensors.Image)


class LateImage(tv_tensors.Image, metaclass=_Kind):  # type: ignore[misc]
    """Has no memory of its own; once it is decoded, another tensor has its pixels."""

    _encoded: bytes
    _cut: Cut
    _pixels: Any

    @staticmethod
    def of(encoded: bytes, cut: Cut) -> Any:
        width, height = cut.size
        late: Any = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            LateImage, (3, height, width), dtype=torch.uint8
        )
        late._encoded, late._cut, late._pixels = encoded, cut, None
        return late

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _WITHOUT_PIXELS:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        return func(*decoded_within(args), **decoded_within(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*decoded_within(args, plain=True), **decoded_within(kwargs or {}, plain=True))

    @classmethod
    def wrap(cls, tensor: Any, like: Any, **_: Any) -> Any:
        return tensor.as_subclass(tv_tensors.Image)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return decoded(self).__reduce_ex__(protocol)


def decoded(image: Any) -> Any:
    """As tv_tensors.Image has it."""
    if type(image) is not LateImage:
        return image
    if "_cut" not in image.__dict__:  # made of a tensor by somebody who looked at its class
        with torch._C.DisableTorchFunctionSubclass():
            return image.as_subclass(tv_tensors.Image)
    if image._pixels is None:
        values = torch.frombuffer(pixels_of(image._encoded, image._cut), dtype=torch.uint8)
        width, height = image._cut.size
        image._pixels = values.view(height, width, 3).permute(2, 0, 1).as_subclass(tv_tensors.Image)
    return image._pixels


def decoded_within(given: Any, plain: bool = False) -> Any:
    """The same with such images decoded, also within tuples, lists and dicts."""
    if type(given) is LateImage:
        image = decoded(given)
        return image.as_subclass(torch.Tensor) if plain else image
    if type(given) in (tuple, list):
        return type(given)(decoded_within(part, plain) for part in given)
    if type(given) is dict:
        return {name: decoded_within(part, plain) for name, part in given.items()}
    return given


def late_of(image: Any) -> Any:
    """Of a Pillow image that is not decoded; None of any other."""
    if here.cuts_differ:
        return None
    if type(image) is OpenedImage and image.encoded is not None:
        return LateImage.of(image.encoded, image.cut)
    encoded = file_of(image)
    if encoded is None or "transparency" in image.info:
        return None
    opened = OpenedImage(encoded, image)
    return LateImage.of(encoded, opened.cut)


def _resize(
    cut: Cut,
    size: Any,
    interpolation: Any = _BILINEAR,
    max_size: Any = None,
    antialias: Any = True,
) -> Cut | None:
    if antialias is not True or interpolation not in _INTERPOLATIONS:
        return None
    is_one = isinstance(size, int) or (isinstance(size, Sequence) and len(size) == 1)
    if is_one:
        width, height = _to_short_side(cut.size, size if isinstance(size, int) else size[0])
    elif isinstance(size, Sequence) and len(size) == 2:
        height, width = size
    else:
        return None
    if max_size is not None:
        return None
    return cut.resized(width, height, _INTERPOLATIONS[interpolation])


def _to_short_side(size: tuple[int, int], short: int) -> tuple[int, int]:
    width, height = size
    if width <= height:
        return short, int(short * height / width)
    return int(short * width / height), short


def _crop(cut: Cut, top: int, left: int, height: int, width: int) -> Cut | None:
    return cut.cropped(left, top, width, height)


def _resized_crop(
    cut: Cut,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Any,
    interpolation: Any = _BILINEAR,
    antialias: Any = True,
) -> Cut | None:
    cropped = _crop(cut, top, left, height, width)
    if cropped is None:
        return None
    return _resize(cropped, size, interpolation, antialias=antialias)


#: By torchvision's functions, with their arguments: None where the pixels are wanted.
_CUTS: dict[Any, Callable[..., Cut | None]] = {
    functional.resize: _resize,
    functional.crop: _crop,
    functional.resized_crop: _resized_crop,
    functional.horizontal_flip: Cut.flipped,
    functional.vertical_flip: Cut.flipped_vertically,
}


def call_kernel(original: Any) -> Any:
    """In the place of Transform._call_kernel."""

    def _call_kernel(self: Any, function: Any, image: Any, *given: Any, **more: Any) -> Any:
        if type(image) is not LateImage:
            return original(self, function, image, *given, **more)
        cuts = _CUTS.get(function)
        if cuts is not None and image.__dict__.get("_pixels", 0) is None and not here.cuts_differ:
            cut = cuts(image._cut, *given, **more)
            if cut is not None:
                return LateImage.of(image._encoded, cut)
        return original(self, function, decoded(image), *given, **more)

    return _call_kernel


def new_image(original: Any) -> Any:
    """In the place of tv_tensors.Image.__new__."""

    def new(kind: Any, data: Any, **more: Any) -> Any:
        plain = kind is tv_tensors.Image and all(value is None for value in more.values())
        late = late_of(data) if plain else None
        return original(kind, data, **more) if late is None else late

    return new


__all__ = ["LateImage", "call_kernel", "decoded", "decoded_within", "late_of", "new_image"]
