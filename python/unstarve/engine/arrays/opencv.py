"""`cv2.imread` and `cv2.cvtColor` in a worker process, where their arrays may be decoded late.

The first images of each kind of JPEG are read by OpenCV too. Where a pixel differs, OpenCV reads
all of that kind.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FrameType
from typing import Any

import numpy as np
from PIL import JpegImagePlugin

from unstarve.engine.arrays import albumented
from unstarve.engine.arrays.late_array import LateArray
from unstarve.engine.cut import whole
from unstarve.engine.pillow_files import file_of
from unstarve.lowering.array_use import compositions_of, value_in

_COLOURS = 1  # cv2.IMREAD_COLOR
_OTHER_ORDER = 4  # cv2.COLOR_BGR2RGB, and COLOR_RGB2BGR
_BEGIN_OF_JPEG = b"\xff\xd8"
_ORIENTATION = 0x0112  # of EXIF
_UPRIGHT = 1
#: Images of each kind that OpenCV reads too.
_COMPARED = 3

#: By what a JPEG is: how many are still compared; None where OpenCV's pixels are others.
_left_to_compare: dict[Any, int | None] = {}


def look() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """What is to be exchanged: where each function is, and what makes ours of it. None where a
    script has functions of its own in their places."""
    library = sys.modules["cv2"]
    made = [(library, "imread", _imread), (library, "cvtColor", _cvt_color)]
    is_own = all(isinstance(getattr(library, name), BuiltinFunctionType) for _, name, _ in made)
    return made if is_own else []


def _imread(original: Callable[..., Any]) -> Callable[..., Any]:
    def read(*given: Any, **more: Any) -> Any:
        made = None
        if not more and (len(given) == 1 or (len(given) == 2 and given[1] == _COLOURS)):
            with contextlib.suppress(Exception):  # whatever is wrong with us, OpenCV reads it
                if _goes_to_compositions(sys._getframe(1)):
                    made = _read(given[0], functools.partial(original, *given))
        return original(*given, **more) if made is None else made

    return read


def _cvt_color(original: Callable[..., Any]) -> Callable[..., Any]:
    def convert(*given: Any, **more: Any) -> Any:
        if given and type(given[0]) is LateArray:
            if len(given) == 2 and given[1] == _OTHER_ORDER and not more:
                return given[0].in_other_order()
            given = (np.asarray(given[0]), *given[1:])
        return original(*given, **more)

    return convert


def _goes_to_compositions(frame: FrameType) -> bool:
    """Whether the function that called takes the array nowhere else."""
    found = compositions_of(frame.f_code)
    return bool(found) and all(albumented.is_known(value_in(frame, names)) for names in found)


def _read(file: Any, by_opencv: Callable[[], Any]) -> Any:
    """None where OpenCV has to read it."""
    with open(file, "rb") as opened:
        encoded = opened.read()
    if not encoded.startswith(_BEGIN_OF_JPEG):
        return None
    image = JpegImagePlugin.JpegImageFile(io.BytesIO(encoded))
    if file_of(image) is None or image.getexif().get(_ORIENTATION, _UPRIGHT) != _UPRIGHT:
        return None
    kind = _kind_of(image)
    late = LateArray(encoded, whole(image.size), by_opencv, False)
    left = _left_to_compare.setdefault(kind, _COMPARED)
    if left == 0:
        return late
    expected = by_opencv()
    if left is not None:
        _left_to_compare[kind] = left - 1 if _has_pixels(late, expected) else None
    return expected


def _kind_of(image: Any) -> Any:
    """What decides how a decoder makes colours of a JPEG's coefficients."""
    sampling = tuple(layer[1:3] for layer in image.layer)
    names = ("progressive", "adobe_transform")
    return (sampling, *(image.info.get(name) for name in names))


def _has_pixels(late: LateArray, expected: Any) -> bool:
    """Whether all of it, and a part, are as OpenCV has them."""
    height, width, _ = late.shape
    top, left = height // 5, width // 3
    part = late[top : max(top + 1, height // 2), left : max(left + 1, width * 3 // 4)]
    in_all = expected[top : max(top + 1, height // 2), left : max(left + 1, width * 3 // 4)]
    return np.array_equal(part, in_all) and np.array_equal(np.asarray(late), expected)


__all__ = ["look"]
