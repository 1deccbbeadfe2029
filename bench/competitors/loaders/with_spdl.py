"""SPDL: FFmpeg decodes, crops, scales and flips in a pool of threads."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from loaders.task import BATCH, RATIO, SCALE, SHORT_SIDE, SIZE


def draw_crop(width: int, height: int) -> tuple[int, int, int, int]:
    """x, y, width, height as torchvision's RandomResizedCrop draws them."""
    for _ in range(10):
        area = width * height * random.uniform(*SCALE)
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        crop_width = round(math.sqrt(area * ratio))
        crop_height = round(math.sqrt(area / ratio))
        if crop_width <= width and crop_height <= height:
            x = random.randint(0, width - crop_width)
            return x, random.randint(0, height - crop_height), crop_width, crop_height
    return 0, 0, width, height


class Spdl:
    """FFmpeg's scale filter is bilinear, not antialiased the way the others are."""

    def __init__(self, root: Path, threads: int, _scratch: Path) -> None:
        self._files = [str(path) for path in sorted(root.glob("*/*"))]
        self._threads = threads

    def epoch(self) -> Iterator[int]:
        import spdl.io
        import spdl.pipeline

        def decode(path: str) -> Any:
            packets = spdl.io.demux_image(path)
            x, y, width, height = draw_crop(packets.codec.width, packets.codec.height)
            flip = ",hflip" if random.random() < 0.5 else ""
            return spdl.io.decode_packets(
                packets,
                filter_desc=f"crop={width}:{height}:{x}:{y},"
                f"scale={SIZE}:{SIZE}:flags=bilinear{flip},format=rgb24",
            )

        def to_batch(frames: Any) -> int:
            return int(spdl.io.to_numpy(spdl.io.convert_frames(frames)).shape[0])

        files = list(self._files)
        random.shuffle(files)
        pipeline = (
            spdl.pipeline.PipelineBuilder()
            .add_source(files)
            .pipe(decode, concurrency=self._threads)
            .aggregate(BATCH)
            .pipe(to_batch, concurrency=1)
            .add_sink(3)
            .build(num_threads=self._threads + 1)
        )
        with pipeline.auto_stop():
            yield from pipeline

    def evaluation(self) -> np.ndarray:
        import spdl.io

        side = f"{SHORT_SIDE}:{SHORT_SIDE}:force_original_aspect_ratio=increase"
        images = []
        for path in self._files:
            frames = spdl.io.decode_packets(
                spdl.io.demux_image(path),
                filter_desc=f"scale={side}:flags=bilinear,crop={SIZE}:{SIZE},format=rgb24",
            )
            images.append(np.array(spdl.io.to_numpy(spdl.io.convert_frames(frames))))
        stacked: np.ndarray = np.stack(images).reshape(-1, SIZE, SIZE, 3).transpose(0, 3, 1, 2)
        return stacked
