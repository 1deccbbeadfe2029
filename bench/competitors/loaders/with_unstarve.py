"""unstarve, on the original files and on shards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from loaders.task import BATCH, SIZE


class Unstarve:
    """unstarve.ImageFolderLoader on a folder of files or on shards of it."""

    def __init__(self, source: Path, threads: int, simd: str = "") -> None:
        import unstarve
        from unstarve import _native

        if simd:
            _native.limit_simd(simd)
        self._train = unstarve.ImageFolderLoader(str(source), BATCH, size=SIZE, threads=threads)
        self._evaluate = unstarve.ImageFolderLoader(
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
