"""What is cut out of an image, and how large that becomes, before anybody has decoded it."""

from __future__ import annotations

from typing import NamedTuple

Size = tuple[int, int]  # width, height
Box = tuple[int, int, int, int]  # left, top, width, height


class Cut(NamedTuple):
    """`crop` of an image of `source`, resized to `target`; `window` of that, and mirrored."""

    source: Size
    crop: Box
    target: Size
    window: Box
    is_bicubic: bool = False
    is_flipped: bool = False  # left to right
    is_flipped_vertically: bool = False

    @property
    def size(self) -> Size:
        return self.window[2:]

    @property
    def is_resized(self) -> bool:
        return self.target != self.crop[2:]

    @property
    def is_part(self) -> bool:
        """Whether there is anything to decode less, or to resize."""
        return self.is_resized or self.crop[2:] != self.source

    def cropped(self, left: int, top: int, width: int, height: int) -> Cut | None:
        """None where the box is not inside the image."""
        across, down = self.size
        inside = left >= 0 and top >= 0 and left + width <= across and top + height <= down
        if not inside or width <= 0 or height <= 0:
            return None
        if self.is_flipped:
            left = across - left - width
        if self.is_flipped_vertically:
            top = down - top - height
        x, y, _, _ = self.window
        if self.is_resized:
            return self._replace(window=(x + left, y + top, width, height))
        x, y, _, _ = self.crop
        crop = (x + left, y + top, width, height)
        return self._replace(crop=crop, target=(width, height), window=(0, 0, width, height))

    def resized(self, width: int, height: int, is_bicubic: bool) -> Cut | None:
        """None where it was resized before: rounding in between is part of what comes out."""
        if (width, height) == self.size:
            return self
        if self.is_resized or width <= 0 or height <= 0:
            return None
        target = (width, height)
        return self._replace(target=target, window=(0, 0, width, height), is_bicubic=is_bicubic)

    def flipped(self) -> Cut:
        return self._replace(is_flipped=not self.is_flipped)

    def flipped_vertically(self) -> Cut:
        return self._replace(is_flipped_vertically=not self.is_flipped_vertically)

    def numbers(self) -> tuple[int, ...]:
        """As the engine takes them."""
        flags = (self.is_bicubic, self.is_flipped, self.is_flipped_vertically)
        return (*self.crop, *self.target, *self.window, *map(int, flags))


def whole(size: Size) -> Cut:
    box = (0, 0, *size)
    return Cut(size, box, size, box)


__all__ = ["Cut", "whole"]
