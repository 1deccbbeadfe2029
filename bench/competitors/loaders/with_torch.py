"""torch.utils.data.DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from loaders.task import BATCH, SHORT_SIDE, SIZE


class Torch:
    """torch.utils.data.DataLoader; decoding by PIL or by torchvision, transforms.v2."""

    def __init__(self, root: Path, threads: int, decoder: str) -> None:
        import torch
        from torchvision import datasets, io
        from torchvision.transforms import v2

        torch.set_num_threads(1)

        def read(path: str) -> Any:
            return io.decode_jpeg(io.read_file(path), io.ImageReadMode.RGB)

        to_uint8 = [v2.PILToTensor()] if decoder == "pil" else []
        options: dict[str, Any] = {} if decoder == "pil" else {"loader": read}
        train = v2.Compose(
            [v2.RandomResizedCrop(SIZE, antialias=True), v2.RandomHorizontalFlip(), *to_uint8]
        )
        evaluate = v2.Compose(
            [v2.Resize(SHORT_SIDE, antialias=True), v2.CenterCrop(SIZE), *to_uint8]
        )
        self._train = datasets.ImageFolder(str(root), train, **options)
        self._evaluate = datasets.ImageFolder(str(root), evaluate, **options)
        self._threads = threads
        self._loader = torch.utils.data.DataLoader

    def epoch(self) -> Iterator[int]:
        # num_workers=0 decodes in the training process: that is torch's one thread.
        workers = 0 if self._threads == 1 else self._threads
        for images, _ in self._loader(
            self._train, batch_size=BATCH, shuffle=True, num_workers=workers
        ):
            yield len(images)

    def evaluation(self) -> np.ndarray:
        images: np.ndarray = np.stack([image.numpy() for image, _ in self._evaluate])
        return images
