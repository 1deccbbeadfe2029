"""JPEGs that are smooth, so that two decoders differ by little, and unlike each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def make_photos(root: Path, width: int, height: int) -> Path:
    """Twelve of them; each is a pixel wider than the one before."""
    random = np.random.default_rng(3)
    for number in range(12):
        coarse = random.integers(0, 256, (8, 9, 3), dtype=np.uint8)
        size = (width + number, height)
        picture = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
        picture.save(root / f"{number:02}.jpg", quality=92)
    return root
