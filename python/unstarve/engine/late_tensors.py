"""tv_tensors.Image of an image that nobody has decoded: it is when an operation wants its pixels.

torchvision's second transforms draw once for an image and the masks and boxes that go with it. They
go on doing so; of the image, crops, sizes and flips are remembered until its pixels are wanted.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode, v2

from unstarve.engine import tensor_functions
from unstarve.engine.cut import Cut, whole
from unstarve.engine.opened_image import IN_VAIN_MAX, OpenedImage, here, pixels_of
from unstarve.engine.pillow_files import file_of

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


class Values(NamedTuple):
    """Float32 from 0 to 1, normalised where there is a deviation."""

    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    deviation: tuple[float, ...] | None = None


_TensorMeta: Any = type(tv_tensors.Image)


class _Kind(_TensorMeta):  # type: ignore[misc]
    """Tables by class, as of `ToDtype({tv_tensors.Image: ...})`, have it under its base."""

    def __eq__(self, other: object) -> bool:
        return other is self or other is tv_tensors.Image

    def __hash__(self) -> int:
        return hash(tv_tensors.Image)


class LateImage(tv_tensors.Image, metaclass=_Kind):  # type: ignore[misc]
    """Has no memory of its own; once it is decoded, another tensor has its pixels."""

    _encoded: bytes
    _cut: Cut
    _values: Values | None  # none: the bytes
    _pixels: Any

    @staticmethod
    def of(encoded: bytes, cut: Cut, values: Values | None = None) -> Any:
        width, height = cut.size
        dtype = torch.uint8 if values is None else torch.float32
        late: Any = torch.Tensor._make_wrapper_subclass(LateImage, (3, height, width), dtype=dtype)
        late._encoded, late._cut, late._values, late._pixels = encoded, cut, values, None
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

    def as_subclass(self, kind: Any) -> Any:
        # torch 2.1 makes no second Python object of what __torch_dispatch__ gives.
        return decoded(self).as_subclass(kind)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return decoded(self).__reduce_ex__(protocol)


def decoded(image: Any) -> Any:
    """As tv_tensors.Image has it."""
    if type(image) is not LateImage:
        return image
    if "_cut" not in image.__dict__:  # made of a tensor by somebody who looked at its class
        keys: Any = torch._C
        python = keys.DispatchKeySet(keys.DispatchKey.Python)
        with keys.DisableTorchFunctionSubclass(), keys._ExcludeDispatchKeyGuard(python):
            return torch.Tensor.as_subclass(image, tv_tensors.Image)
    if image._pixels is None:
        image._pixels = _decode(image).as_subclass(tv_tensors.Image)
    return image._pixels


def _decode(image: Any) -> Any:
    # As bytes Pillow's, to the bit, unless there is something to cut.
    made = pixels_of(image._encoded, image._cut, may_differ=image._values is not None)
    pixels = torch.frombuffer(made, dtype=torch.uint8)
    width, height = image._cut.size
    if image._values is None:
        return pixels.view(height, width, 3).permute(2, 0, 1)
    from unstarve import _native

    made = torch.empty((3, height, width))
    mean, deviation = image._values
    _native.convert_pixels(pixels.numpy(), mean, deviation, made.view(-1).numpy())
    return made


def decoded_within(given: Any, plain: bool = False) -> Any:
    """The same with such images decoded, also within tuples, lists and dicts; itself where there is
    none."""
    if type(given) is LateImage:
        image = decoded(given)
        return image.as_subclass(torch.Tensor) if plain else image
    if type(given) in (tuple, list):
        parts = [decoded_within(part, plain) for part in given]
        is_same = all(part is before for part, before in zip(parts, given, strict=True))
        return given if is_same else type(given)(parts)
    if type(given) is dict:
        named = {name: decoded_within(part, plain) for name, part in given.items()}
        return given if all(named[name] is given[name] for name in given) else named
    return given


def late_of(image: Any) -> Any:
    """Of a Pillow image that is not decoded; None of any other."""
    if here.cuts_differ or here.in_vain >= IN_VAIN_MAX:
        return None
    with contextlib.suppress(Exception):
        if type(image) is OpenedImage and image.encoded is not None:
            return LateImage.of(image.encoded, image.cut)
        encoded = file_of(image)
        if encoded is not None:
            return LateImage.of(encoded, whole(image.size))
    return None


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
        width, height = to_short_side(cut.size, size if isinstance(size, int) else size[0])
    elif isinstance(size, Sequence) and len(size) == 2:
        height, width = size
    else:
        return None
    if max_size is not None:
        return None
    return cut.resized(width, height, _INTERPOLATIONS[interpolation])


def to_short_side(size: tuple[int, int], short: int) -> tuple[int, int]:
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


def _to_dtype(values: Values | None, dtype: Any = torch.float, scale: bool = False) -> Any:
    return Values() if values is None and dtype is torch.float32 and scale else None


def _normalize(values: Values | None, mean: Any, std: Any, inplace: bool = False) -> Any:
    are_three = all(isinstance(part, (list, tuple)) and len(part) == 3 for part in (mean, std))
    if values is None or values.deviation is not None or inplace or not are_three or not all(std):
        return None
    return Values(tuple(map(float, mean)), tuple(map(float, std)))


#: The same of what becomes of the bytes, behind which there is no other cut.
_VALUES: dict[Any, Callable[..., Any]] = {
    functional.to_dtype: _to_dtype,
    functional.normalize: _normalize,
}
_COLOURS = {
    functional.adjust_brightness: "brightness",
    functional.adjust_contrast: "contrast",
    functional.adjust_saturation: "saturation",
    functional.adjust_hue: "hue",
}
#: Changes of colour that torchvision makes too, of each kind.
_COMPARED = 3
#: Of their values, one in so many may be further than 1 from torchvision's.
_FURTHER_MAX = 1e-3


def _coloured(image: Any, function: Any, factor: float) -> Any:
    """By the engine; None where the image is not as Pillow's become, with bytes of red, green and
    blue beside each other."""
    from unstarve import _native

    name = _COLOURS[function]
    plain = image.as_subclass(torch.Tensor)
    is_known = plain.dtype == torch.uint8 and plain.dim() == 3 and plain.device.type == "cpu"
    least, most = (-0.5, 0.5) if name == "hue" else (0.0, float("inf"))
    if not is_known or len(plain) != 3 or not least <= factor <= most or here.colours_differ:
        return None
    pixels = plain.permute(1, 2, 0)
    if not pixels.is_contiguous():
        return None
    made = pixels.clone()
    _native.adjust_colour(name, factor, made.view(-1).numpy())
    made = made.permute(2, 0, 1)
    if here.colours_to_compare.setdefault(name, _COMPARED) > 0:
        here.colours_to_compare[name] -= 1
        away = (made.int() - function(plain, factor).int()).abs() > 1
        here.colours_differ = float(away.float().mean()) > _FURTHER_MAX
        if here.colours_differ:
            return None
    return made.as_subclass(tv_tensors.Image)


def _later(image: Any, function: Any, given: Any, more: Any) -> Any:
    """None where the pixels are wanted."""
    with contextlib.suppress(Exception):  # arguments that torchvision refuses, or newer ones
        if function in _VALUES:
            values = _VALUES[function](image._values, *given, **more)
            return None if values is None else LateImage.of(image._encoded, image._cut, values)
        if function in _CUTS and image._values is None:
            cut = _CUTS[function](image._cut, *given, **more)
            return None if cut is None else LateImage.of(image._encoded, cut)
    return None


def call_kernel(original: Any) -> Any:
    """In the place of Transform._call_kernel."""

    def _call_kernel(self: Any, function: Any, image: Any, *given: Any, **more: Any) -> Any:
        if type(image) is torch.Tensor and function in _NUMBERS:
            kernel = functools.partial(original, self, function)
            return _NUMBERS[function].call(kernel, image, *given, **more)
        if type(image) is not LateImage and type(image) is not tv_tensors.Image:
            return original(self, function, image, *given, **more)
        if function in _COLOURS:
            pixels, made = decoded(image), None
            with contextlib.suppress(Exception):
                made = _coloured(pixels, function, *given, *more.values())
            return original(self, function, pixels, *given, **more) if made is None else made
        if type(image) is not LateImage:
            return _at_once(functools.partial(original, self), function, image, given, more)
        is_late = image.__dict__.get("_pixels", 0) is None and not here.cuts_differ
        later = _later(image, function, given, more) if is_late else None
        if later is not None:
            return later
        pixels = decoded(image)
        return _at_once(functools.partial(original, self), function, pixels, given, more)

    return _call_kernel


#: Of images that are not late.
_NUMBERS = tensor_functions.kernels()


def _at_once(original: Any, function: Any, image: Any, given: Any, more: Any) -> Any:
    """The function of an image that is decoded."""
    if function not in _NUMBERS:
        return original(function, image, *given, **more)

    def kernel(pixels: Any, *given: Any, **more: Any) -> Any:
        made = original(function, pixels.as_subclass(tv_tensors.Image), *given, **more)
        return made.as_subclass(torch.Tensor)

    made = _NUMBERS[function].call(kernel, image.as_subclass(torch.Tensor), *given, **more)
    return made.as_subclass(tv_tensors.Image)


def new_image(original: Any) -> Any:
    """In the place of tv_tensors.Image.__new__."""

    def new(kind: Any, data: Any, **more: Any) -> Any:
        plain = kind is tv_tensors.Image and all(value is None for value in more.values())
        late = late_of(data) if plain else None
        return original(kind, data, **more) if late is None else late

    return new


def wrap(original: Any) -> Any:
    """In the place of tv_tensors.wrap."""

    def wrap(wrappee: Any, *, like: Any, **more: Any) -> Any:
        if type(like) is LateImage:
            return wrappee.as_subclass(tv_tensors.Image)
        return original(wrappee, like=like, **more)

    return wrap


def to_image(original: Any) -> Any:
    """In the place of v2.functional.to_image."""

    def to_image(image: Any) -> Any:
        late = late_of(image)
        return original(image) if late is None else late

    return to_image


__all__ = [
    "LateImage",
    "call_kernel",
    "decoded",
    "decoded_within",
    "late_of",
    "new_image",
    "to_image",
    "to_short_side",
    "wrap",
]
