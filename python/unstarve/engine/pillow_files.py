"""Files that Pillow has opened and not decoded yet, of the kinds that the engine decodes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, NamedTuple

from PIL import JpegImagePlugin, PngImagePlugin

from unstarve.engine.native_options import most_pixels

_END_OF_JPEG = b"\xff\xd9"
_END_OF_PNG = b"\0\0\0\0IEND\xaeB`\x82"
_BEGIN_OF_PNG = b"\x89PNG"
#: By Pillow's modes, how a PNG's samples are told to it.
RAW_MODES = {"1": "1;8", "L": "L", "P": "P", "LA": "LA", "RGB": "RGB", "RGBA": "RGBA"}


class _Kind(NamedTuple):
    """Of files."""

    #: The modes that Pillow's `convert("RGB")` makes what the engine decodes of.
    modes: frozenset[str]
    #: Pillow raises where a file is cut off or damaged, and does so here rather than later.
    is_whole: Callable[[bytes], bool]


def _is_whole_png(encoded: bytes) -> bool:
    return encoded.endswith(_END_OF_PNG) and bool(png_decoder().is_sound(encoded))


_KINDS: dict[type, _Kind] = {
    JpegImagePlugin.JpegImageFile: _Kind(
        frozenset({"RGB"}), lambda encoded: encoded.endswith(_END_OF_JPEG)
    ),
    PngImagePlugin.PngImageFile: _Kind(frozenset(RAW_MODES), _is_whole_png),
}
KINDS = tuple(_KINDS)

_decoders: list[Any] = []


def png_decoder() -> Any:
    """This process's."""
    if not _decoders:
        from unstarve import _native

        _decoders.append(_native.PngDecoder(most_pixels()))
    return _decoders[0]


def is_png(encoded: bytes) -> bool:
    return encoded.startswith(_BEGIN_OF_PNG)


def whole_file_of(image: Any) -> bytes | None:
    """Of an image that Pillow has opened, as large as its file says, and of which nothing is
    decoded."""
    kind = _KINDS.get(type(image))
    if kind is None or len(image.tile) != 1 or image.decoderconfig:
        return None
    try:
        place = image.fp.tell()
        image.fp.seek(0)
        encoded: bytes = image.fp.read()
        image.fp.seek(place)
    except (AttributeError, OSError, ValueError):
        return None
    return encoded if kind.is_whole(encoded) else None


def file_of(image: Any, to_convert: bool = False) -> bytes | None:
    """The same of an image of three colours, or of one that has them once it is converted."""
    kind = _KINDS.get(type(image))
    if kind is None or image.mode not in (kind.modes if to_convert else ("RGB",)):
        return None
    # Conversion has something to say to that.
    return None if "transparency" in image.info else whole_file_of(image)


def leave_file(image: Any, encoded: bytes) -> None:
    """Pillow would have loaded the image: whoever uses it still needs no file, and one that Pillow
    opened is closed."""
    file, kept = image.fp, io.BytesIO(encoded)
    kept.seek(file.tell())
    image.fp = kept
    if type(image) is PngImagePlugin.PngImageFile:
        image.png.fp = kept
    if getattr(image, "_exclusive_fp", False):
        file.close()


def waits_in_memory(image: Any) -> bool:
    """Whether it is a whole file in memory, of which nothing is decoded."""
    is_in_memory = isinstance(getattr(image, "fp", None), io.BytesIO)
    return is_in_memory and whole_file_of(image) is not None


__all__ = [
    "KINDS",
    "RAW_MODES",
    "file_of",
    "is_png",
    "leave_file",
    "png_decoder",
    "waits_in_memory",
    "whole_file_of",
]
