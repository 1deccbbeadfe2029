"""An image of a file whose pixels are decoded when somebody wants them.

What is cropped, resized and mirrored before that is remembered. Then the engine decodes only what
is left of it, and resizes that alone.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image

from unstarve.engine.cut import Cut, whole
from unstarve.engine.native_options import most_pixels
from unstarve.engine.pillow_files import is_png
from unstarve.engine.png_loading import opened_for_pillow

#: Images whose pixels somebody else wanted, all of them, in a row: then they are opened as Pillow
#: opens them.
IN_VAIN_MAX = 32
#: Cuts by the engine that Pillow makes too, of each kind.
_COMPARED = 3
#: Of a resized image's values, one in so many may be further than 2 from Pillow's.
FURTHER_MAX = 1e-3
#: As many views of an image are made before all of it is decoded at once.
_MANY_VIEWS = 3


class Here:
    """Of this process."""

    def __init__(self) -> None:
        #: Images in a row whose pixels somebody else wanted, all of them.
        self.in_vain = 0
        #: The data set makes many views of each image.
        self.makes_many_views = False
        #: By whether they are resized, and how: cuts that are still to be compared.
        self.left_to_compare: dict[tuple[bool, bool], int] = {}
        #: Cuts differ from Pillow's.
        self.cuts_differ = False
        #: The same of changes of colour, by their names.
        self.colours_to_compare: dict[str, int] = {}
        self.colours_differ = False
        #: As Pillow had it.
        self.convert: Any = None
        self._cutter: Any = None

    @property
    def cutter(self) -> Any:
        if self._cutter is None:
            from unstarve import _native

            self._cutter = _native.ImageCutter(most_pixels())
        return self._cutter


here = Here()


class OpenedImage(Image.Image):  # type: ignore[misc]
    """As the RGB image of a file. Once somebody wants its pixels it is of Pillow's own
    class."""

    #: The file.
    encoded: bytes | None = None

    def __init__(self, encoded: bytes, of: Any, cut: Cut | None = None) -> None:
        super().__init__()
        self.cut = cut or whole(of.size)
        self._mode = "RGB"
        self._size = self.cut.size
        self.info = of.info.copy()
        self.encoded = encoded
        #: Of a JPEG: what its file says of each channel.
        self.layers: Any = of.layers if isinstance(of, OpenedImage) else getattr(of, "layer", ())
        #: By compositions.
        self.views = 0
        self._bitmap: bytes | None = None

    @property
    def im(self) -> Any:
        return self._decoded().im

    @im.setter
    def im(self, pixels: Any) -> None:
        if pixels is not None:  # as Pillow before 11 begins
            self._become(pixels)

    def load(self) -> Any:
        return self._decoded().load()

    def convert(self, mode: Any = None, *given: Any, **more: Any) -> Any:
        if mode == "RGB" and not given and not more:
            return self.copy()
        return self._decoded().convert(mode, *given, **more)

    def copy(self) -> Any:
        made = self._cut_to(self.cut)
        return made or self._decoded().copy()

    def resize(self, *given: Any, **more: Any) -> Any:
        return self.later("resize", given, more) or self._decoded().resize(*given, **more)

    def crop(self, *given: Any, **more: Any) -> Any:
        return self.later("crop", given, more) or self._decoded().crop(*given, **more)

    def transpose(self, *given: Any, **more: Any) -> Any:
        return self.later("transpose", given, more) or self._decoded().transpose(*given, **more)

    def later(self, method: str, given: Any, more: Any) -> Any:
        """What the method gives, decoded later; None where that cannot be."""
        with contextlib.suppress(Exception):  # arguments that Pillow refuses, or newer ones
            return self._cut_to(_CUTS[method](self.cut, *given, **more))
        return None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OpenedImage):
            other._decoded()
        return bool(self._decoded() == other)

    __hash__ = None  # type: ignore[assignment]  # as Pillow's

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._decoded().__reduce_ex__(protocol)

    def file_for_view(self) -> bytes | None:
        """The file for one of several compositions; None where it has been changed. Where many
        want the image it is decoded once."""
        if self.encoded is None or self.cut != whole(self.cut.source):
            return None
        self.views += 1
        here.makes_many_views = here.makes_many_views or self.views == _MANY_VIEWS
        if not here.makes_many_views:
            return self.encoded
        if self._bitmap is None:
            written = io.BytesIO()
            pillows(self.encoded).save(written, "BMP")
            self._bitmap = written.getvalue()
        return self._bitmap

    def _cut_to(self, cut: Cut | None) -> Any:
        if cut is None or self.encoded is None or here.cuts_differ:
            return None
        return OpenedImage(self.encoded, self, cut)

    def _decoded(self) -> Any:
        """Itself, as Pillow's."""
        if self.encoded is not None:
            pixels = pixels_of(self.encoded, self.cut)
            picture = Image.frombuffer("RGB", self.cut.size, pixels, "raw", "RGB", 0, 1)
            self._become(picture.im)
        return self

    def _become(self, pixels: Any) -> None:
        for name in ("encoded", "layers", "cut", "views", "_bitmap"):
            self.__dict__.pop(name, None)
        self.__class__ = Image.Image
        self.im = pixels


def _resized(
    cut: Cut, size: Any, resample: Any = None, box: Any = None, reducing_gap: Any = None
) -> Cut | None:
    kinds = {None: True, Image.Resampling.BICUBIC: True, Image.Resampling.BILINEAR: False}
    is_size = isinstance(size, Sequence) and len(size) == 2
    is_plain = resample in kinds and box is None and reducing_gap is None
    if not is_size or not is_plain or not all(isinstance(side, int) for side in size):
        return None
    return cut.resized(size[0], size[1], kinds[resample])


def _cropped(cut: Cut, box: Any = None) -> Cut | None:
    if box is None:
        return cut
    left, top, right, bottom = map(int, map(round, box))
    return cut.cropped(left, top, right - left, bottom - top)


def _transposed(cut: Cut, method: Any) -> Cut | None:
    if method == Image.Transpose.FLIP_LEFT_RIGHT:
        return cut.flipped()
    return cut.flipped_vertically() if method == Image.Transpose.FLIP_TOP_BOTTOM else None


#: By the names of Pillow's methods, with their arguments.
_CUTS: dict[str, Callable[..., Cut | None]] = {
    "resize": _resized,
    "crop": _cropped,
    "transpose": _transposed,
}
#: The methods that need no pixels.
LATER = tuple(_CUTS)


def pixels_of(encoded: bytes, cut: Cut, may_differ: bool = False) -> bytearray:
    """What is cut out of the RGB image: three bytes a pixel, row by row. `may_differ`: from
    Pillow's where nothing is cut."""
    # The engine's PNGs have Pillow's pixels, sooner.
    is_ours = cut.is_part or may_differ or is_png(encoded)
    if not is_ours or here.cuts_differ:
        here.in_vain += 1
        return by_pillow(encoded, cut)
    kind = (cut.is_resized, cut.is_bicubic)
    left = here.left_to_compare.setdefault(kind, _COMPARED)
    made = by_engine(encoded, cut)
    if left > 0 or made is None:
        here.left_to_compare[kind] = left - 1
        expected = by_pillow(encoded, cut)
        if made is None or differ(made, expected):
            here.cuts_differ = here.cuts_differ or made is not None
            return expected
    here.in_vain = 0
    return made


def by_engine(encoded: bytes, cut: Cut) -> bytearray | None:
    """None where the engine cannot decode the file."""
    from unstarve.errors import UnstarveError

    width, height = cut.size
    pixels = bytearray(3 * width * height)
    try:
        here.cutter.cut(encoded, cut.numbers(), pixels)
    except UnstarveError:
        return None
    return pixels


def by_pillow(encoded: bytes, cut: Cut) -> bytearray:
    """The same by Pillow alone; black where the window reaches past the target."""
    return bytearray(_cut_by_pillow(pillows(encoded), cut).tobytes())


def _cut_by_pillow(image: Any, cut: Cut) -> Any:
    left, top, width, height = cut.crop
    if cut.crop != (0, 0, *cut.source):
        image = image.crop((left, top, left + width, top + height))
    if cut.is_resized:
        kinds = Image.Resampling
        image = image.resize(cut.target, kinds.BICUBIC if cut.is_bicubic else kinds.BILINEAR)
    left, top, width, height = cut.window
    if cut.window != (0, 0, *cut.target):
        image = image.crop((left, top, left + width, top + height))
    if cut.is_flipped:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if cut.is_flipped_vertically:
        image = image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    return image


def differ(ours: bytearray, theirs: bytearray) -> bool:
    """Whether pixels are further apart than those of two decoders and resizers are."""
    import torch

    if len(ours) != len(theirs):
        return True
    own, other = (torch.frombuffer(values, dtype=torch.uint8).int() for values in (ours, theirs))
    return float(((own - other).abs() > 2).float().mean()) > FURTHER_MAX


def pillows(encoded: bytes) -> Any:
    """The RGB image, decoded."""
    opened = opened_for_pillow(encoded)
    return (here.convert or type(opened).convert)(opened, "RGB")


__all__ = [
    "FURTHER_MAX",
    "IN_VAIN_MAX",
    "LATER",
    "OpenedImage",
    "by_engine",
    "by_pillow",
    "differ",
    "here",
    "pillows",
    "pixels_of",
]
