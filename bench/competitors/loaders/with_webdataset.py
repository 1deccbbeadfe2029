"""WebDataset: a tar of the files, torchvision's decoder, torch's worker processes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from loaders.task import BATCH, SHORT_SIDE, SIZE

TARS = 4  # each is read by one worker


def write_tars(root: Path, target: Path) -> None:
    partial = target.with_suffix(".partial")
    partial.mkdir()
    files = sorted(root.glob("*/*"))
    for number in range(TARS):
        with tarfile.open(partial / f"{number:06d}.tar", "w") as tar:
            share = files[len(files) * number // TARS : len(files) * (number + 1) // TARS]
            for path in share:
                for suffix, content in (("jpg", path.read_bytes()), ("cls", b"0")):
                    member = tarfile.TarInfo(f"{path.stem.replace('.', '_')}.{suffix}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
    partial.rename(target)


class WebDataset:
    def __init__(self, root: Path, threads: int, scratch: Path) -> None:
        import torch
        import webdataset
        from torchvision import io as images
        from torchvision.transforms import v2

        torch.set_num_threads(1)
        folder = scratch / "webdataset"
        if not folder.exists():
            write_tars(root, folder)
        tars = [str(path) for path in sorted(folder.iterdir())]

        def decode(encoded: bytes) -> Any:
            data = torch.frombuffer(bytearray(encoded), dtype=torch.uint8)
            return images.decode_jpeg(data, images.ImageReadMode.RGB)

        train = v2.Compose([v2.RandomResizedCrop(SIZE, antialias=True), v2.RandomHorizontalFlip()])
        evaluate = v2.Compose([v2.Resize(SHORT_SIDE, antialias=True), v2.CenterCrop(SIZE)])
        self._train = (
            webdataset.WebDataset(tars, shardshuffle=TARS, empty_check=False)
            .shuffle(1000)
            .to_tuple("jpg", "cls")
            .map_tuple(lambda encoded: train(decode(encoded)), int)
        )
        self._evaluate = (
            webdataset.WebDataset(tars, shardshuffle=False)
            .to_tuple("jpg")
            .map_tuple(lambda encoded: evaluate(decode(encoded)))
        )
        self._workers = 0 if threads == 1 else threads
        self._loader = torch.utils.data.DataLoader

    def epoch(self) -> Iterator[int]:
        loader = self._loader(self._train, batch_size=BATCH, num_workers=self._workers)
        for images, _ in loader:
            yield len(images)

    def evaluation(self) -> np.ndarray:
        images: np.ndarray = np.stack([image.numpy() for (image,) in self._evaluate])
        return images
