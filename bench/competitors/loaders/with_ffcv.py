"""FFCV, which needs its own file: the same images encoded again as JPEGs of quality 90.

Not like for like: it reads fewer bytes, of a lossy copy, and resizes with OpenCV's INTER_AREA.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from loaders.task import BATCH, SHORT_SIDE, SIZE

QUALITY = 90


class _Images:
    def __init__(self, files: list[Path]) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        from PIL import Image

        return Image.open(self._files[index]).convert("RGB"), 0


def write_beton(root: Path, target: Path) -> None:
    from ffcv.fields import IntField, RGBImageField
    from ffcv.writer import DatasetWriter

    partial = target.with_suffix(".partial")
    fields = {
        "image": RGBImageField(write_mode="jpg", jpeg_quality=QUALITY),
        "label": IntField(),
    }
    writer = DatasetWriter(str(partial), fields, num_workers=1)
    writer.from_indexed_dataset(_Images(sorted(root.glob("*/*"))))
    partial.rename(target)


class Ffcv:
    def __init__(self, root: Path, threads: int, scratch: Path) -> None:
        from ffcv.fields.basics import IntDecoder
        from ffcv.fields.rgb_image import (
            CenterCropRGBImageDecoder,
            RandomResizedCropRGBImageDecoder,
        )
        from ffcv.loader import Loader, OrderOption
        from ffcv.transforms import RandomHorizontalFlip, ToTensor

        beton = scratch / "images.beton"
        if not beton.exists():
            write_beton(root, beton)

        def loader(image: list[Any], order: Any) -> Any:
            return Loader(
                str(beton),
                batch_size=BATCH,
                num_workers=threads,
                order=order,
                drop_last=False,
                os_cache=True,
                pipelines={"image": [*image, ToTensor()], "label": [IntDecoder(), ToTensor()]},
            )

        side = (SIZE, SIZE)
        self._train = loader(
            [RandomResizedCropRGBImageDecoder(side), RandomHorizontalFlip()], OrderOption.RANDOM
        )
        self._evaluate = loader(
            [CenterCropRGBImageDecoder(side, ratio=SIZE / SHORT_SIDE)], OrderOption.SEQUENTIAL
        )

    def epoch(self) -> Iterator[int]:
        for images, _ in self._train:
            yield len(images)

    def evaluation(self) -> np.ndarray:
        images = np.concatenate([batch.numpy().copy() for batch, _ in self._evaluate])
        transposed: np.ndarray = images.transpose(0, 3, 1, 2)
        return transposed
