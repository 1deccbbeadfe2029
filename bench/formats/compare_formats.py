#!/usr/bin/env python3
"""Decodes PNG, WebP, GIF and TIFF files with the engine, torchvision and Pillow, on one thread.

The photographs of tests/data, at most 500 pixels wide, are written as PNG, as lossy and lossless
WebP, as GIF, and as TIFF that is packed in several ways. torchvision reads no TIFFs. Everybody's
pixels are compared before anything is timed. Shown are images per CPU second, medians over
interleaved repeats, and the ratio to the best of the others within each repeat, with its extremes:
of whole images, and of the crops of RandomResizedCrop, which the others decode whole.

    PYTHONPATH=build/release/python python bench/formats/compare_formats.py --repeats 5
"""

from __future__ import annotations

import argparse
import io
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torchvision.io import ImageReadMode, decode_gif, decode_png, decode_webp
from torchvision.transforms import RandomResizedCrop
from unstarve import _native

PHOTOS = sorted((Path(__file__).resolve().parents[2] / "tests/data/photos").glob("*.jpg"))
WIDEST = 500
KINDS: dict[str, dict[str, Any]] = {
    "PNG": {"format": "PNG"},
    "WebP": {"format": "WEBP", "quality": 80},
    "lossless WebP": {"format": "WEBP", "lossless": True},
    "GIF": {"format": "GIF"},
    "TIFF": {"format": "TIFF"},
    "TIFF, LZW": {"format": "TIFF", "compression": "tiff_lzw"},
    "TIFF, deflate": {"format": "TIFF", "compression": "tiff_adobe_deflate"},
}
#: torchvision reads no TIFFs.
TORCHVISIONS: dict[str, Callable[..., torch.Tensor]] = {
    "PNG": decode_png,
    "WebP": decode_webp,
    "lossless WebP": decode_webp,
    "GIF": lambda encoded, _mode: decode_gif(encoded),
}


class File(NamedTuple):
    encoded: bytes
    kind: str
    size: tuple[int, int]  # width, height
    crop: tuple[int, int, int, int]  # left, top, width, height


def made_files(kind: str, count: int) -> list[File]:
    torch.manual_seed(0)
    files = []
    for photo in (PHOTOS * count)[:count]:
        image = Image.open(photo).convert("RGB")
        image.thumbnail((WIDEST, WIDEST))
        stream = io.BytesIO()
        image.save(stream, **KINDS[kind])
        top, left, height, width = RandomResizedCrop.get_params(image, [0.08, 1.0], [3 / 4, 4 / 3])
        files.append(File(stream.getvalue(), kind, image.size, (left, top, width, height)))
    return files


_CUTTER = _native.ImageCutter(1 << 28)


def by_engine(file: File, box: tuple[int, int, int, int]) -> Any:
    left, top, width, height = box
    pixels: Any = np.empty((height, width, 3), np.uint8)
    cut = (left, top, width, height, width, height, 0, 0, width, height, 0, 0, 0)
    _CUTTER.cut(file.encoded, cut, pixels.reshape(-1))
    return pixels


def by_pillow(file: File, box: tuple[int, int, int, int]) -> Any:
    left, top, width, height = box
    image = Image.open(io.BytesIO(file.encoded)).convert("RGB")
    return np.asarray(image.crop((left, top, left + width, top + height)))


def by_torchvision(file: File, box: tuple[int, int, int, int]) -> Any:
    left, top, width, height = box
    encoded = torch.frombuffer(bytearray(file.encoded), dtype=torch.uint8)
    image = TORCHVISIONS[file.kind](encoded, ImageReadMode.RGB)
    return image[:, top : top + height, left : left + width].permute(1, 2, 0).numpy()


DECODERS: dict[str, Callable[[File, tuple[int, int, int, int]], Any]] = {
    "unstarve": by_engine,
    "torchvision": by_torchvision,
    "Pillow": by_pillow,
}


def decoders_of(kind: str) -> list[str]:
    return [name for name in DECODERS if name != "torchvision" or kind in TORCHVISIONS]


def box_of(file: File, is_whole: bool) -> tuple[int, int, int, int]:
    return (0, 0, *file.size) if is_whole else file.crop


def check(files: list[File]) -> None:
    """Raises unless all pixels are equal."""
    for file in files:
        for is_whole in (True, False):
            box = box_of(file, is_whole)
            expected = by_pillow(file, box)
            for name in decoders_of(file.kind):
                if not np.array_equal(DECODERS[name](file, box), expected):
                    raise SystemExit(f"{file.kind}: {name} has other pixels than Pillow")


def rates(files: list[File], is_whole: bool, repeats: int) -> dict[str, list[float]]:
    """Images per CPU second of each decoder, in each repeat."""
    names = decoders_of(files[0].kind)
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in random.sample(names, len(names)):
            begun = time.process_time()
            for file in files:
                DECODERS[name](file, box_of(file, is_whole))
            found[name].append(len(files) / (time.process_time() - begun))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=64, help="images of each kind")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'':26}{'unstarve':>10}{'torchvision':>13}{'Pillow':>8}   to the best of them")
    for kind in KINDS:
        files = made_files(kind, arguments.count)
        check(files)
        for is_whole in (True, False):
            found = rates(files, is_whole, arguments.repeats)
            ours, *others = (found[name] for name in decoders_of(kind))
            bests = map(max, zip(*others, strict=True))
            ratios = [own / best for own, best in zip(ours, bests, strict=True)]
            medians = {name: f"{statistics.median(numbers):.0f}" for name, numbers in found.items()}
            print(
                f"{kind + (', whole' if is_whole else ', a crop'):26}{medians['unstarve']:>10}"
                f"{medians.get('torchvision', '-'):>13}{medians['Pillow']:>8}   "
                f"{statistics.median(ratios):.2f}x [{min(ratios):.2f}..{max(ratios):.2f}]"
            )


if __name__ == "__main__":
    main()
