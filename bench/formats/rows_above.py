#!/usr/bin/env python3
"""What of a random crop's CPU time goes into the rows of a JPEG above it, on one thread.

Crops of RandomResizedCrop are decoded and resized to 224 x 224, and the same crops moved to the top
of their images. The difference is what an index of rows could save at most. Shown are milliseconds
of CPU time an image, the least of the repeats.

    PYTHONPATH=build/release/python python bench/formats/rows_above.py FOLDER
"""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path

import torch
from PIL import Image
from torchvision.transforms import RandomResizedCrop
from unstarve import _native

SIDE = 224
Box = tuple[int, int, int, int]  # top, left, height, width


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of JPEGs")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    cutter = _native.ImageCutter(1 << 28)
    pixels = bytearray(3 * SIDE * SIDE)
    files: list[bytes] = []
    crops: list[Box] = []
    for path in sorted(arguments.folder.rglob("*.jpg"))[: arguments.count]:
        encoded = path.read_bytes()
        with Image.open(io.BytesIO(encoded)) as image:
            if image.mode == "RGB":
                files.append(encoded)
                crops.append(RandomResizedCrop.get_params(image, [0.08, 1.0], [3 / 4, 4 / 3]))

    def milliseconds(boxes: list[Box]) -> float:
        begun = time.process_time()
        for encoded, (top, left, height, width) in zip(files, boxes, strict=True):
            cut = (left, top, width, height, SIDE, SIDE, 0, 0, SIDE, SIDE, 0, 0, 0)
            cutter.cut(encoded, cut, pixels)
        return 1e3 * (time.process_time() - begun) / len(files)

    at_the_top = [(0, left, height, width) for _, left, height, width in crops]
    both = [(milliseconds(crops), milliseconds(at_the_top)) for _ in range(arguments.repeats)]
    where_drawn, at_top = (min(column) for column in zip(*both, strict=True))
    share = 1 - at_top / where_drawn
    print(f"{len(files)} crops: {where_drawn:.3f} ms, at the top {at_top:.3f} ms: {share:.0%} less")


if __name__ == "__main__":
    main()
