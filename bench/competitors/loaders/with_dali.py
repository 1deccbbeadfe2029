"""NVIDIA DALI, on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from loaders.task import BATCH, RATIO, SCALE, SHORT_SIDE, SIZE


class Dali:
    """NVIDIA DALI's CPU pipeline with its fused random-crop decoder."""

    def __init__(self, root: Path, threads: int) -> None:
        from nvidia.dali import fn, pipeline_def, types

        def train() -> Any:
            encoded, _ = fn.readers.file(file_root=str(root), random_shuffle=True, name="reader")
            images = fn.decoders.image_random_crop(
                encoded, device="cpu", random_area=SCALE, random_aspect_ratio=RATIO
            )
            images = fn.resize(
                images,
                resize_x=SIZE,
                resize_y=SIZE,
                interp_type=types.INTERP_LINEAR,
                antialias=True,
            )
            return fn.flip(images, horizontal=fn.random.coin_flip())

        def evaluate() -> Any:
            encoded, _ = fn.readers.file(file_root=str(root), name="reader")
            images = fn.decoders.image(encoded, device="cpu")
            images = fn.resize(
                images,
                resize_shorter=SHORT_SIDE,
                interp_type=types.INTERP_LINEAR,
                antialias=True,
            )
            return fn.crop(images, crop=(SIZE, SIZE))

        self._train = pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None)(train)()
        self._train.build()
        self._evaluate = pipeline_def(batch_size=1, num_threads=1, device_id=None)(evaluate)()
        self._evaluate.build()
        self._size = self._train.epoch_size("reader")

    def epoch(self) -> Iterator[int]:
        # DALI pads the last batch with images of the next epoch and loads them too: they count.
        loaded = 0
        while loaded < self._size:
            (images,) = self._train.run()
            loaded += len(images)
            yield len(images)

    def evaluation(self) -> np.ndarray:
        images = [self._evaluate.run()[0].as_array()[0] for _ in range(self._size)]
        stacked: np.ndarray = np.stack(images).transpose(0, 3, 1, 2)
        return stacked
