"""PNG files that Pillow loads, masks among them: the engine decodes them to the same pixels."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from PIL import Image, PngImagePlugin

from unstarve.engine.pillow_files import RAW_MODES, png_decoder, whole_file_of

#: Images that Pillow loads too.
_COMPARED = 3
#: Of an image that Pillow itself is to load.
_BY_PILLOW = "unstarve_by_pillow"


class _Process:
    """Of this process."""

    left_to_compare = _COMPARED
    pixels_differ = False


def opened_for_pillow(encoded: bytes) -> Any:
    """The image, opened; nothing of ours decodes it."""
    image = Image.open(io.BytesIO(encoded))
    setattr(image, _BY_PILLOW, True)
    return image


def load(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def load(image: Any) -> Any:
        if not _Process.pixels_differ and _may_be_ours(image):
            pixels = _decoded(image)
            if pixels is not None:
                _finish(image, pixels)
                return Image.Image.load(image)  # which gives it its palette
        return original(image)

    return load


def _may_be_ours(image: Any) -> bool:
    if type(image) is not PngImagePlugin.PngImageFile or hasattr(image, _BY_PILLOW):
        return False
    # As later versions of Pillow may not have them.
    knows_how_to_end = all(hasattr(image, name) for name in ("_text", "_exclusive_fp", "png"))
    return knows_how_to_end and bool(image.tile) and image.mode in RAW_MODES


def _decoded(image: Any) -> Any:
    """Its pixels as Pillow keeps them; None where the engine cannot or must not decode them."""
    encoded = whole_file_of(image)
    if encoded is None:
        return None
    channels = len(image.getbands())
    stored = bytearray(image.width * image.height * channels)
    try:
        png_decoder().decode_stored(encoded, stored)
        made = Image.frombytes(image.mode, image.size, stored, "raw", RAW_MODES[image.mode])
    except Exception:  # whatever is wrong with the file or with us, Pillow loads it
        return None
    if _Process.left_to_compare > 0:
        _Process.left_to_compare -= 1
        if made.tobytes() != opened_for_pillow(encoded).tobytes():
            _Process.pixels_differ = True
            return None
    return made.im


def _finish(image: Any, pixels: Any) -> None:
    """As Pillow leaves an image that it has loaded, whose pixels nothing follows in the file."""
    image.im = pixels
    image.tile = []
    image._text = image.png.im_text
    image.png.close()
    image.png = None
    if image._exclusive_fp and image._close_exclusive_fp_after_loading:
        image.fp.close()
    image.fp = None


__all__ = ["load", "opened_for_pillow"]
