"""The data that the pipelines read, made of the photographs of tests/data: as large as people's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

PHOTOS = sorted((Path(__file__).resolve().parents[2] / "tests/data/photos").glob("*.jpg"))
SIZE = (500, 375)  # as ImageNet's, VOC's and COCO's mostly are


def make(folder: Path, count: int) -> None:
    """`count` images in two classes, with a mask and boxes each; once."""
    done = folder / f"made-{count}"
    if done.exists():
        return
    boxes: dict[str, Any] = {}
    (folder / "masks").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / "images" / ("cat", "dog")[number % 2] / f"{number:05d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        _picture(number).save(path, quality=90)
        mask, found = _objects(number)
        mask.save(folder / "masks" / f"{number:05d}.png")
        boxes[path.stem] = found
    (folder / "boxes.json").write_text(json.dumps(boxes))
    done.touch()


def _picture(number: int) -> Image.Image:
    """Another crop of one of the photographs each."""
    with Image.open(PHOTOS[number % len(PHOTOS)]) as photo:
        scale = 0.6 + (number * 7 % 40) / 100
        width, height = (int(side * scale) for side in photo.size)
        left = number * 13 % (photo.width - width + 1)
        top = number * 29 % (photo.height - height + 1)
        return photo.convert("RGB").crop((left, top, left + width, top + height)).resize(SIZE)


def _objects(number: int) -> tuple[Image.Image, list[list[int]]]:
    """Three rectangles: their mask with a palette, as VOC's, and their boxes with labels."""
    width, height = SIZE
    mask: Any = np.zeros((height, width), np.uint8)
    found = []
    for item in range(3):
        left = (number * 37 + item * 150) % (width - 140)
        top = (number * 53 + item * 90) % (height - 120)
        right, bottom = left + 60 + number * 11 % 80, top + 50 + number * 17 % 70
        mask[top:bottom, left:right] = item + 1
        found.append([left, top, right, bottom, item + 1])
    picture = Image.fromarray(mask)
    picture.putpalette([number * 71 % 256 for number in range(768)])
    return picture, found


def image_paths(folder: Path) -> list[Path]:
    return sorted((folder / "images").glob("*/*.jpg"), key=lambda path: path.stem)
