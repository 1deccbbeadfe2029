"""Image files that are decoded when somebody wants their pixels, and only as far as is wanted."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from unstarve.engine.cut import Cut, whole
from unstarve.engine.opened_image import OpenedImage, pixels_of
from unstarve.engine.pillow_files import file_of

_ORIENTATION = 0x0112  # of EXIF
_UPRIGHT = 1


def open_image(file: str | os.PathLike[str] | Any) -> Image.Image:
    """The RGB image of a file, as `PIL.Image.open(file).convert("RGB")`.

    A JPEG or PNG stays encoded until its pixels are wanted. What is cropped, resized (bilinear or
    bicubic) and mirrored before that is decoded as a whole, by the engine: of a crop no more than
    the crop. Pixels are Pillow's where nothing is resized, and within 2 of 255 where it is, but for
    one value of a thousand.

    Raises: what `PIL.Image.open` raises.
    """
    with Image.open(file) as image:
        encoded = file_of(image, to_convert=True)
        return image.convert("RGB") if encoded is None else OpenedImage(encoded, image)


class ImageArray:
    """The pixels of an image file as a uint8 array of shape height x width x 3: blue, green, red.

    `image[top:bottom, left:right]` is a NumPy array of which no more than that rectangle was
    decoded. Whatever else is asked of it, it is an array of all its pixels, which `numpy.asarray`
    gives too.
    """

    dtype = np.dtype(np.uint8)
    ndim = 3

    def __init__(self, encoded: bytes, size: tuple[int, int]) -> None:
        self._encoded = encoded
        self._whole = whole(size)
        self._pixels: Any = None

    @property
    def shape(self) -> tuple[int, int, int]:
        width, height = self._whole.size
        return height, width, 3

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._pixels is None:
            self._pixels = self._cut(self._whole)
        made = self._pixels if dtype is None else self._pixels.astype(dtype, copy=False)
        return made.copy() if copy else made

    def __getitem__(self, key: Any) -> Any:
        cut = None if self._pixels is not None else self._rectangle(key)
        return np.asarray(self)[key] if cut is None else self._cut(cut)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of a copy or a pickle that is being made
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __repr__(self) -> str:
        state = "not decoded" if self._pixels is None else "decoded"
        return f"ImageArray(shape={self.shape}, {state})"

    def _rectangle(self, key: Any) -> Cut | None:
        """None where it is another part of the image than rows and columns without a gap."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > 2 or not all(isinstance(part, slice) for part in keys):
            return None
        height, width, _ = self.shape
        rows, *columns = keys
        top, bottom, down = rows.indices(height)
        left, right, across = columns[0].indices(width) if columns else (0, width, 1)
        if down != 1 or across != 1:
            return None
        return self._whole.cropped(left, top, right - left, bottom - top)

    def _cut(self, cut: Cut) -> Any:
        width, height = cut.size
        red_first = np.frombuffer(pixels_of(self._encoded, cut), np.uint8)
        return np.ascontiguousarray(red_first.reshape(height, width, 3)[:, :, ::-1])


def imread(file: str | os.PathLike[str]) -> Any:
    """The pixels of an image file, as `cv2.imread(file)`: uint8, height x width x 3, blue first,
    upright as its EXIF says.

    A JPEG or PNG that needs no turning is an `ImageArray`, of which a crop decodes no more than the
    crop. Others are NumPy arrays. Functions in C or C++, OpenCV's among them, want
    `numpy.asarray(image)`.

    Raises: what `PIL.Image.open` raises, where OpenCV would give None.
    """
    with Image.open(file) as image:
        if image.getexif().get(_ORIENTATION, _UPRIGHT) == _UPRIGHT:
            encoded = file_of(image, to_convert=True)
            if encoded is not None:
                return ImageArray(encoded, image.size)
        upright: Any = ImageOps.exif_transpose(image)
        return np.ascontiguousarray(np.asarray(upright.convert("RGB"))[:, :, ::-1])


__all__ = ["ImageArray", "imread", "open_image"]
