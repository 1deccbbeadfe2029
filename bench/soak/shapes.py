"""The shapes of jobs that `soak.py` runs: each goes on until it is told to stop.

    python bench/soak/shapes.py SHAPE torch|unstarve IMAGES SECONDS

Prints how many batches it took.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset
from torchvision import datasets, transforms

Step = Callable[[object], None]  # takes a batch; raises _Over when it is time
SIZE = 96
WORK = transforms.Compose([transforms.Resize((SIZE, SIZE)), transforms.ToTensor()])


class _Over(Exception):  # noqa: N818  (no error)
    pass


class Made(Dataset[Any]):  # type: ignore[misc]
    """Samples of 256 KiB that only Python can make."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        return torch.full((64, 1024), float(index)), index


def persistent(loader: Any, images: Path, step: Step) -> None:
    """Persistent training workers; a validation forks its own while the last batch is held."""
    del images
    training = loader(Made(96), batch_size=8, num_workers=2, persistent_workers=True)
    validation = loader(Made(16), batch_size=8, num_workers=1)
    while True:
        for batch in training:
            step(batch)
        for held_out in validation:
            step(held_out)


def kept_labels(loader: Any, images: Path, step: Step) -> None:
    """An evaluation that keeps the labels of all batches, as metrics do."""
    evaluation = loader(datasets.ImageFolder(str(images), WORK), batch_size=8, num_workers=2)
    while True:
        kept = []
        for batch, labels in evaluation:
            kept.append(labels)
            step(batch)


def many_loaders(loader: Any, images: Path, step: Step) -> None:
    """A loader without workers for each of forty domains, asked in turn."""
    dataset = datasets.ImageFolder(str(images), WORK)
    loaders = [loader(dataset, batch_size=8, shuffle=True) for _ in range(40)]
    epochs = [iter(each) for each in loaders]
    while True:
        for number, each in enumerate(loaders):
            batch = next(epochs[number], None)
            if batch is None:
                epochs[number] = iter(each)
            else:
                step(batch)


def killed_workers(loader: Any, images: Path, step: Step) -> None:
    """A worker is killed in each epoch, as by a container's memory limit."""
    del images
    training = loader(Made(64), batch_size=8, num_workers=2)
    # torch's loader raises any of them, wherever its handler of SIGCHLD finds the job: in these
    # blocks' own ends too, so that each stands in another.
    told = (RuntimeError, OSError, EOFError)

    def killed_epoch() -> None:
        epoch = iter(training)
        try:
            step(next(epoch))
            os.kill(epoch._workers[0].pid, signal.SIGKILL)
            for batch in epoch:
                step(batch)
        except told:
            pass
        finally:
            epoch._shutdown_workers()

    while True:
        with contextlib.suppress(*told):
            killed_epoch()


def early_breaks(loader: Any, images: Path, step: Step) -> None:
    """Epochs that are left after three batches, native ones and those of worker processes."""
    loaders = [
        loader(datasets.ImageFolder(str(images), WORK), batch_size=8, num_workers=2),
        loader(Made(96), batch_size=8, num_workers=2),
    ]
    while True:
        for each in loaders:
            for number, batch in enumerate(each):
                step(batch)
                if number == 2:
                    break


def forks(loader: Any, images: Path, step: Step) -> None:
    """A process is forked in each step, while the batch is held."""
    del images
    training = loader(Made(96), batch_size=8, num_workers=2)
    while True:
        for batch in training:
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
            step(batch)


SHAPES: dict[str, Callable[[Any, Path, Step], None]] = {
    shape.__name__: shape
    for shape in (persistent, kept_labels, many_loaders, killed_workers, early_breaks, forks)
}


def main() -> int:
    """Runs one shape with one loader for some seconds."""
    shape, kind, images, seconds = sys.argv[1:]
    if kind == "torch":
        from torch.utils.data import DataLoader
    else:
        from unstarve import DataLoader
    torch.set_num_threads(1)
    end = time.monotonic() + float(seconds)
    taken = 0

    def step(batch: object) -> None:
        nonlocal taken
        del batch
        taken += 1
        if time.monotonic() >= end:
            raise _Over

    with contextlib.suppress(_Over):
        SHAPES[shape](DataLoader, Path(images), step)
    print(taken, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
