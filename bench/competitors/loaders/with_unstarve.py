"""unstarve, on the original files and on shards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from loaders.task import BATCH, SHORT_SIDE, SIZE


class Unstarve:
    """unstarve.ImageLoader on a folder of files or on shards of it."""

    def __init__(self, source: Path, threads: int, simd: str = "") -> None:
        import unstarve
        from unstarve import _native

        if simd:
            _native.limit_simd(simd)
        self._train = unstarve.ImageLoader(str(source), BATCH, size=SIZE, threads=threads)
        self._evaluate = unstarve.ImageLoader(
            str(source), BATCH, size=SIZE, train=False, shuffle=False, threads=threads
        )

    def epoch(self) -> Iterator[int]:
        for images, _ in self._train:
            yield len(images)

    def evaluation(self) -> np.ndarray:
        images: np.ndarray = np.concatenate(
            [np.asarray(batch).copy() for batch, _ in self._evaluate]
        )
        return images


class DropIn:
    """A script for torch and torchvision of which only the import of DataLoader was changed."""

    def __init__(self, root: Path, threads: int) -> None:
        from torchvision import datasets, transforms
        from unstarve import DataLoader

        train = transforms.Compose(
            [
                transforms.RandomResizedCrop(SIZE),
                transforms.RandomHorizontalFlip(),
                transforms.PILToTensor(),
            ]
        )
        evaluate = transforms.Compose(
            [transforms.Resize(SHORT_SIDE), transforms.CenterCrop(SIZE), transforms.PILToTensor()]
        )
        self._train = DataLoader(
            datasets.ImageFolder(str(root), train),
            batch_size=BATCH,
            shuffle=True,
            num_workers=threads,
        )
        self._evaluate = DataLoader(
            datasets.ImageFolder(str(root), evaluate), batch_size=BATCH, num_workers=threads
        )
        for loader in (self._train, self._evaluate):
            explanation = loader.explain()
            if explanation.engine != "native":
                raise SystemExit(f"not the work that is to be measured: {explanation}")

    def epoch(self) -> Iterator[int]:
        for images, _ in self._train:
            yield len(images)

    def evaluation(self) -> np.ndarray:
        images: np.ndarray = np.concatenate([batch.numpy() for batch, _ in self._evaluate])
        return images
