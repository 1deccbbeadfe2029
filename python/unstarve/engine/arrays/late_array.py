"""An array of an image's pixels that is decoded when somebody wants them, and the place of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unstarve.engine import opened_image
from unstarve.engine.cut import Cut
from unstarve.engine.image_files import ImageArray

#: All pixels of the file, upright, blue first: what reads them where the engine cannot.
Fallback = Callable[[], Any]

_PLAIN = (slice, type(...))
_ALL, _BACKWARDS = slice(None), slice(None, None, -1)
_OTHER_ORDER = ((_ALL, _ALL, _BACKWARDS), (..., _BACKWARDS))


class LateArray(ImageArray):
    """uint8, height x width x 3. What is cropped and mirrored before somebody wants the pixels is
    remembered, and no more than that is decoded."""

    def __init__(self, encoded: bytes, cut: Cut, fallback: Fallback, red_first: bool) -> None:
        super().__init__(encoded, cut.source)
        self._whole = cut
        self._fallback = fallback
        self._red_first = red_first
        #: By compositions.
        self.views = 0

    def pixels(self) -> Any:
        return self.__array__()

    def __getitem__(self, key: Any) -> Any:
        is_plain = isinstance(key, tuple) and all(isinstance(part, _PLAIN) for part in key)
        if self._pixels is None and is_plain and key in _OTHER_ORDER:
            return self.in_other_order()
        return super().__getitem__(key)

    def in_other_order(self) -> LateArray:
        """With the first channel last."""
        return LateArray(self._encoded, self._whole, self._fallback, not self._red_first)

    def cropped(self, left: int, top: int, right: int, bottom: int) -> LateArray | None:
        """None where that is not a part of it."""
        return self._with(self._whole.cropped(left, top, right - left, bottom - top))

    def flipped(self) -> LateArray | None:
        return self._with(self._whole.flipped())

    def flipped_vertically(self) -> LateArray | None:
        return self._with(self._whole.flipped_vertically())

    def _with(self, cut: Cut | None) -> LateArray | None:
        if cut is None:
            return None
        return LateArray(self._encoded, cut, self._fallback, self._red_first)

    def _cut(self, cut: Cut) -> Any:
        made = opened_image.by_engine(self._encoded, cut)
        if made is None:
            return self._cut_of_all(self._fallback(), cut)
        width, height = cut.size
        pixels = np.frombuffer(made, np.uint8).reshape(height, width, 3)
        return pixels if self._red_first else np.ascontiguousarray(pixels[:, :, ::-1])

    def _cut_of_all(self, pixels: Any, cut: Cut) -> Any:
        left, top, width, height = cut.crop
        pixels = pixels[top : top + height, left : left + width]
        if cut.is_flipped:
            pixels = pixels[:, ::-1]
        if cut.is_flipped_vertically:
            pixels = pixels[::-1]
        return np.ascontiguousarray(pixels[:, :, ::-1] if self._red_first else pixels)


class Waiting(np.ndarray[Any, Any]):
    """Stands for a late array where albumentations looks at shapes. Nobody reads its memory, in
    which there is nothing."""

    late: LateArray

    @classmethod
    def of(cls, late: LateArray) -> Waiting:
        made: Waiting = cls.__new__(cls, late.shape, np.uint8)
        made.late = late
        return made


__all__ = ["Fallback", "LateArray", "Waiting"]
