"""Folders of pictures: smooth JPEGs, in which two decoders differ by little, and lossless ones."""

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


def copies_of_one(root: Path, width: int, height: int, copies: int) -> Path:
    """One image, many times; lossless, and no two pixels alike."""
    (root / "class0").mkdir(parents=True)
    values = np.random.default_rng(5).integers(1, 256, (height, width, 3), dtype=np.uint8)
    first = root / "class0" / "0000.png"
    Image.fromarray(values).save(first)
    for number in range(1, copies):
        (first.parent / f"{number:04}.png").hardlink_to(first)
    return root
