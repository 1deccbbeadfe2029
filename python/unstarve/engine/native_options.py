"""What the engine is told of the environment, of Pillow's limits and of a list of files."""

from __future__ import annotations

import os
import sys
from array import array
from typing import Any

from unstarve.engine.environment import cache_folder, size_of
from unstarve.lowering.work import Samples

EPOCHS = 1 << 32  # what the engine numbers them with
SEED_STEP = 0x9E3779B97F4A7C15  # odd and without pattern: seeds that follow are far apart

_JPEG_PIXELS_MAX = 65_535 * 65_535


def ask_for_cache(options: Any) -> None:
    """What the environment says: the way in for a script of which only the import was changed."""
    options.cache_dir = cache_folder()
    cache_bytes = size_of("UNSTARVE_CACHE_BYTES") if options.cache_dir else None
    if cache_bytes is not None:
        options.cache_bytes = cache_bytes


def most_pixels() -> int:
    """Of an image that the engine reads: Pillow warns of larger ones, or refuses them, and then
    Python has to load them."""
    most: int | None = sys.modules["PIL.Image"].MAX_IMAGE_PIXELS
    return _JPEG_PIXELS_MAX if most is None else int(most)


def compiled_list(samples: Samples) -> Any:
    """The FileList of these files, which all who have the same samples share.

    Raises:
        TypeError, OverflowError: a label is no whole number, or a huge one.
    """
    if samples.compiled is None:
        from unstarve import _native

        paths = b"".join(os.fsencode(path) + b"\0" for path, _ in samples)
        labels = array("q", (label for _, label in samples))
        samples.compiled = _native.FileList(paths, labels)
    return samples.compiled
