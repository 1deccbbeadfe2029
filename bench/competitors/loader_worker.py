"""One loader in a process of its own, driven line by line by compare_loaders.py.

Reads commands on standard input: `evaluate DIR` writes the evaluation images of the data set
(short side 256, centre 224) as DIR/NAME.npy; `epoch` loads one training epoch
(RandomResizedCrop(224, antialias) + horizontal flip, uint8, batches of 64) PASSES times and
answers with a JSON line of images, wall seconds and CPU seconds of this process and its children.
CPU time is counted from the end of the answer before: a loader that reads ahead while the others
have their turn pays for it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 64
SIZE = 224
SHORT_SIDE = 256
PASSES = 4  # over the data set, per turn


def cpu_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


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


class Dali:
    """NVIDIA DALI's CPU pipeline with its fused random-crop decoder."""

    def __init__(self, root: Path, threads: int) -> None:
        from nvidia.dali import fn, pipeline_def, types

        def train() -> Any:
            encoded, _ = fn.readers.file(file_root=str(root), random_shuffle=True, name="reader")
            images = fn.decoders.image_random_crop(
                encoded, device="cpu", random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
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


class Unstarve:
    """unstarve.ImageFolderLoader."""

    def __init__(self, root: Path, threads: int) -> None:
        import unstarve

        self._train = unstarve.ImageFolderLoader(str(root), BATCH, size=SIZE, threads=threads)
        self._evaluate = unstarve.ImageFolderLoader(
            str(root), BATCH, size=SIZE, train=False, shuffle=False, threads=threads
        )

    def epoch(self) -> Iterator[int]:
        for images, _ in self._train:
            yield len(images)

    def evaluation(self) -> np.ndarray:
        images: np.ndarray = np.concatenate(
            [np.asarray(batch).copy() for batch, _ in self._evaluate]
        )
        return images


LOADERS: dict[str, Callable[[Path, int], Any]] = {
    "unstarve": Unstarve,
    "dali": Dali,
    "torch_tv": lambda root, threads: Torch(root, threads, "torchvision"),
    "torch_pil": lambda root, threads: Torch(root, threads, "pil"),
}


def answer(out: Any, message: dict[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loader", choices=sorted(LOADERS))
    parser.add_argument("root", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    # Libraries print to standard output now and then; answers have a descriptor of their own.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    loader = LOADERS[args.loader](args.root, args.threads)
    answer(out, {"ready": args.loader})
    counted_cpu = cpu_seconds()
    for line in sys.stdin:
        command = line.split()
        if command[0] == "evaluate":
            path = Path(command[1]) / f"{args.loader}.npy"
            np.save(path, loader.evaluation())
            answer(out, {"written": str(path)})
        elif command[0] == "epoch":
            wall = time.perf_counter()
            images = sum(sum(loader.epoch()) for _ in range(PASSES))
            wall = time.perf_counter() - wall
            cpu = cpu_seconds()
            answer(out, {"images": images, "wall_s": wall, "cpu_s": cpu - counted_cpu})
            counted_cpu = cpu
    return 0


if __name__ == "__main__":
    sys.exit(main())
