"""What makes arrays of images, in a worker process: `cv2.imread`, `cv2.cvtColor` and `numpy.array`.

Where a function takes such an array to albumentations alone, it is decoded late. The first images
of each kind of JPEG are read as ever, and compared. Where a pixel differs, all of that kind are.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType, FrameType
from typing import Any

import numpy as np
from PIL import JpegImagePlugin

from unstarve.engine.arrays import albumented
from unstarve.engine.arrays.late_array import LateArray
from unstarve.engine.cut import whole
from unstarve.engine.opened_image import IN_VAIN_MAX, OpenedImage, here
from unstarve.engine.pillow_files import file_of
from unstarve.lowering.array_use import use_of, value_in

_COLOURS = 1  # cv2.IMREAD_COLOR
_OTHER_ORDER = 4  # cv2.COLOR_BGR2RGB, and COLOR_RGB2BGR
_BEGIN_OF_JPEG = b"\xff\xd8"
_ORIENTATION = 0x0112  # of EXIF
_UPRIGHT = 1
#: Images of each kind that are read as ever too.
_COMPARED = 3


class _Process:
    """Of this process."""

    def __init__(self) -> None:
        #: Files in a row, of those that might wait, that OpenCV had to read.
        self.in_vain = 0
        #: By who reads it and what a JPEG is: how many are still compared; None where pixels are
        #: others.
        self.left_to_compare: dict[Any, int | None] = {}


_process = _Process()


def look() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """What is to be exchanged: where each function is, and what makes ours of it. A script's own
    functions in their places stay."""
    library = sys.modules["cv2"]
    found: list[tuple[Any, str, Callable[[Any], Any]]] = []
    if all(_is_own(library, name) for name in ("imread", "cvtColor")):
        found += [(library, "imread", _imread), (library, "cvtColor", _cvt_color)]
        # Numba knows these by what they were when it was loaded.
        if "numba" not in sys.modules:
            found += [(np, name, _array) for name in ("array", "asarray") if _is_own(np, name)]
    return found


def _is_own(library: Any, name: str) -> bool:
    return isinstance(getattr(library, name), BuiltinFunctionType)


def _imread(original: Callable[..., Any]) -> Callable[..., Any]:
    def read(*given: Any, **more: Any) -> Any:
        made = None
        is_plain = not more and (len(given) == 1 or (len(given) == 2 and given[1] == _COLOURS))
        if is_plain and _process.in_vain < IN_VAIN_MAX:
            with contextlib.suppress(Exception):  # whatever is wrong with us, OpenCV reads it
                if _goes_to_compositions(sys._getframe(1)):
                    _process.in_vain += 1
                    made = _read(given[0], functools.partial(original, *given))
        if made is not None:
            _process.in_vain = 0
        return original(*given, **more) if made is None else made

    return read


def _cvt_color(original: Callable[..., Any]) -> Callable[..., Any]:
    def convert(*given: Any, **more: Any) -> Any:
        if given and type(given[0]) is LateArray:
            if len(given) == 2 and given[1] == _OTHER_ORDER and not more:
                return given[0].in_other_order()
            given = (given[0].pixels(), *given[1:])
        return original(*given, **more)

    return convert


def _array(original: Callable[..., Any]) -> Callable[..., Any]:
    def array(*given: Any, **more: Any) -> Any:
        if len(given) != 1 or more or type(given[0]) is not OpenedImage:
            return original(*given, **more)
        made = None
        with contextlib.suppress(Exception):  # whatever is wrong with us, Pillow decodes it
            if _goes_to_compositions(sys._getframe(1)):
                made = _late_of(given[0], functools.partial(original, *given))
        return original(*given) if made is None else made

    return array


def _goes_to_compositions(frame: FrameType) -> bool:
    """Whether the function that called takes the array nowhere else."""
    use = use_of(frame.f_code)
    if use is None or not any(first <= frame.f_lineno <= last for first, last in use.lines):
        return False
    return all(albumented.is_known(value_in(frame, names)) for names in use.compositions)


def _read(file: Any, by_opencv: Callable[[], Any]) -> Any:
    """None where OpenCV has to read it."""
    with Path(file).open("rb") as opened:
        if opened.read(len(_BEGIN_OF_JPEG)) != _BEGIN_OF_JPEG:
            return None
        opened.seek(0)
        encoded = opened.read()
    image = JpegImagePlugin.JpegImageFile(io.BytesIO(encoded))
    if file_of(image) is None or _is_progressive(image):
        return None
    if image.getexif().get(_ORIENTATION, _UPRIGHT) != _UPRIGHT:
        return None
    late = LateArray(encoded, whole(image.size), by_opencv, False)
    return _compared(late, ("cv2", *_kind_of(image, image.layer)), by_opencv)


def _late_of(image: OpenedImage, by_pillow: Callable[[], Any]) -> Any:
    """None where Pillow has to decode it."""
    if image.encoded is None or image.cut != whole(image.cut.source):
        return None
    if not image.layers or _is_progressive(image):
        return None

    def fallback() -> Any:
        return np.ascontiguousarray(by_pillow()[:, :, ::-1])

    late = LateArray(image.encoded, image.cut, fallback, True)
    made = _compared(late, ("PIL", *_kind_of(image, image.layers)), by_pillow)
    here.in_vain = 0
    return made


def _is_progressive(image: Any) -> bool:
    """Of those a crop costs as much as all of it."""
    return bool(image.info.get("progressive"))


def _kind_of(image: Any, layers: Any) -> tuple[Any, ...]:
    """What decides how a decoder makes colours of a JPEG's coefficients."""
    return tuple(layer[1:3] for layer in layers), image.info.get("adobe_transform")


def _compared(late: LateArray, kind: Any, read: Callable[[], Any]) -> Any:
    """The late array, where the first ones of its kind were right."""
    left = _process.left_to_compare.setdefault(kind, _COMPARED)
    if left == 0:
        return late
    expected = read()
    if left is not None:
        _process.left_to_compare[kind] = left - 1 if _has_pixels(late, expected) else None
    return expected


def _has_pixels(late: LateArray, expected: Any) -> bool:
    """Whether all of it, and a part, are the same."""
    height, width, _ = late.shape
    top, left = height // 5, width // 3
    bottom, right = max(top + 1, height // 2), max(left + 1, width * 3 // 4)
    part = np.array_equal(late[top:bottom, left:right], expected[top:bottom, left:right])
    return part and np.array_equal(late.pixels(), expected)


__all__ = ["look"]
