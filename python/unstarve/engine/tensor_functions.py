"""torchvision's functions between bytes and normalised numbers, in a worker process.

Most scripts end in `to_tensor` and `normalize`, whatever comes before. torch takes a pass over the
image for each of copying, turning around, converting, dividing, copying, subtracting and dividing.
The engine's kernels take one each, and give the same numbers to the bit.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from unstarve.engine.opened_image import OpenedImage, pixels_of

#: Results of each function that torchvision makes too.
_COMPARED = 3
_CHANNELS = 3


class Function:
    """What the engine makes in the place of one of torchvision's: `own` gives None where it cannot.
    The first results are compared."""

    def __init__(self, own: Callable[..., Any]) -> None:
        self._own = own
        self._left_to_compare = _COMPARED
        self._differs = False

    def call(self, original: Callable[..., Any], *given: Any, **more: Any) -> Any:
        made = None
        if not self._differs:
            with contextlib.suppress(Exception):  # arguments that torchvision refuses
                made = self._own(*given, **more)
        if made is None:
            return original(*given, **more)
        if self._left_to_compare > 0:
            self._left_to_compare -= 1
            expected = original(*given, **more)
            self._differs = not (_lie_alike(expected, made) and torch.equal(expected, made))
            return expected
        return made


def _lie_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """In memory: how far from each other, where there are several."""
    places = zip(one.shape, one.stride(), other.stride(), strict=True)
    return one.shape == other.shape and all(a == b or size < 2 for size, a, b in places)


def native() -> Any:
    from unstarve import _native

    return _native


def _flat(tensor: torch.Tensor) -> tuple[Any, bool] | None:
    """The numbers of an image of three channels as they lie in memory, and whether one channel
    follows the other; None where they lie otherwise."""
    if tensor.ndim != 3 or tensor.shape[0] != _CHANNELS or tensor.requires_grad:
        return None
    if tensor.is_contiguous():
        return tensor.view(-1).numpy(), True
    by_pixel = tensor.permute(1, 2, 0)
    return (by_pixel.reshape(-1).numpy(), False) if by_pixel.is_contiguous() else None


def _bytes_of(picture: Any) -> tuple[Any, int, int] | None:
    """Of an image of RGB: its bytes, pixel by pixel, its height and its width."""
    if type(picture) is OpenedImage and picture.encoded is not None:
        width, height = picture.cut.size
        return pixels_of(picture.encoded, picture.cut), height, width
    if type(picture) is Image.Image and picture.mode == "RGB":
        return picture.tobytes(), picture.height, picture.width
    is_plain = type(picture) is np.ndarray and picture.dtype == np.uint8 and picture.ndim == 3
    if is_plain and picture.shape[2] == _CHANNELS and picture.flags.c_contiguous:
        return picture.reshape(-1), picture.shape[0], picture.shape[1]
    return None


def _to_tensor(picture: Any) -> Any:
    found = _bytes_of(picture) if torch.get_default_dtype() is torch.float32 else None
    if found is None:
        return None
    pixels, height, width = found
    made = torch.empty((_CHANNELS, height, width))
    given = np.frombuffer(pixels, np.uint8)
    no_mean = (0.0, 0.0, 0.0)
    native().convert_pixels(given, no_mean, None, made.view(-1).numpy(), scale="divide")
    return made


def _scaled(image: Any, dtype: Any, divides: bool) -> Any:
    is_known = type(image) is torch.Tensor and image.dtype is torch.uint8
    flat = _flat(image) if is_known and dtype is torch.float32 else None
    if flat is None:
        return None
    made = torch.empty_like(image, dtype=torch.float32)
    out = _flat(made)
    assert out is not None and out[1] == flat[1]
    native().scale_bytes(flat[0], out[0], scale="divide" if divides else "multiply")
    return made


def _convert_image_dtype(image: Any, dtype: Any = torch.float) -> Any:
    return _scaled(image, dtype, divides=True)


def _to_dtype(image: Any, dtype: Any = torch.float, scale: bool = False) -> Any:
    return _scaled(image, dtype, divides=False) if scale else None


def _normalize(tensor: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    is_known = type(tensor) is torch.Tensor and tensor.dtype is torch.float32 and not inplace
    flat = _flat(tensor) if is_known else None
    if flat is None or not _are_numbers(mean) or not _are_numbers(std):
        return None
    # torch refuses a deviation that is 0 once it is a float32.
    if not np.all(np.asarray(std, np.float32)):
        return None
    made = torch.empty_like(tensor)
    out = _flat(made)
    assert out is not None and out[1] == flat[1]
    native().normalise(flat[0], tuple(mean), tuple(std), out[0], is_planar=flat[1])
    return made


def _are_numbers(values: Any) -> bool:
    is_list = isinstance(values, Sequence) and len(values) == _CHANNELS
    return is_list and all(isinstance(value, (int, float)) for value in values)


#: By the modules that have them: torchvision's own functions, and ours.
_FUNCTIONS = (
    ("torchvision.transforms.functional", "to_tensor", _to_tensor),
    ("torchvision.transforms._functional_tensor", "convert_image_dtype", _convert_image_dtype),
    ("torchvision.transforms._functional_tensor", "normalize", _normalize),
)


def functions() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """Of the modules that this process has imported: where each is, and what makes ours of it."""
    found = []
    for module, name, own in _FUNCTIONS:
        owner = sys.modules.get(module)
        if hasattr(owner, name):
            found.append((owner, name, _maker(own)))
    return found


def _maker(own: Callable[..., Any]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        function = Function(own)

        def call(*given: Any, **more: Any) -> Any:
            return function.call(original, *given, **more)

        return call

    return make


def kernels() -> dict[Any, Function]:
    """The same of torchvision's second transforms, by its functions, for plain tensors."""
    from torchvision.transforms.v2 import functional

    return {functional.to_dtype: Function(_to_dtype), functional.normalize: Function(_normalize)}


__all__ = ["Function", "functions", "kernels", "native"]
