#!/usr/bin/env python3
"""An epoch of `unstarve.DataLoader` over as many files as ImageNet has, with its odd ones.

    python bench/imagenet_sized/imagenet_sized.py --count 1280000 [--folder ON_A_LOCAL_DISK]

Makes a temporary folder of --count small JPEGs in 1000 classes (hard links), of which one is a TIFF
named .JPEG, one is CMYK and one is cut off. Each file's class and colour together are its index, so
that what a loop gets says which samples it got. A shuffled epoch, one resumed in the middle and
near its end, and one of two ranks must each give every sample once, and for the odd files what
torch's DataLoader gives for the same batch. Ends with exit code 1 where one does not.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils import data
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, transforms
from unstarve import DataLoader

CLASSES = 1000
LEVELS = 11  # of each colour channel: 1331 colours, so 1.33 million files
LEVEL_STEP = 25  # of 255; JPEG moves a plain colour by 3 at most
BATCH = 256
SEED = 20
MOST_ERRORS = 20  # a loader that fails for ever must not run for ever


def colour_of(number: int) -> tuple[int, int, int]:
    """The colour with this number, 0 to 1330."""
    blue, green, red = number // LEVELS**2, number // LEVELS % LEVELS, number % LEVELS
    return red * LEVEL_STEP, green * LEVEL_STEP, blue * LEVEL_STEP


def encoded(number: int, mode: str = "RGB", kind: str = "JPEG") -> bytes:
    """A plain image of the colour, 48 x 40 pixels."""
    image = Image.new("RGB", (48, 40), colour_of(number)).convert(mode)
    stream = io.BytesIO()
    image.save(stream, kind, **({} if kind == "TIFF" else {"quality": 95, "subsampling": 0}))
    return stream.getvalue()


def place(index: int) -> str:
    """Where the file is that ImageFolder numbers `index`, given `CLASSES` per colour."""
    return f"n{index % CLASSES:08d}/{index // CLASSES:04d}.JPEG"


@dataclass
class OddFiles:
    """Sample numbers (colour times CLASSES plus class) of the files that are something else."""

    tiff: int
    cmyk: int
    cut_off: int


def make_files(folder: Path, count: int) -> OddFiles:
    """Hard links: as many directory entries as files, without their bytes."""
    originals = folder / "colours"
    originals.mkdir()
    root = folder / "train"
    for number in range(CLASSES):
        (root / f"n{number:08d}").mkdir(parents=True)
    for colour in range(-(-count // CLASSES)):
        original = originals / f"{colour:04d}.jpg"
        original.write_bytes(encoded(colour))
        for index in range(colour * CLASSES, min(count, (colour + 1) * CLASSES)):
            os.link(original, root / place(index))
    # ImageFolder goes class by class: the TIFF comes close to the end, the others before it.
    middle = count // CLASSES // 2 * CLASSES
    odd = OddFiles(
        tiff=count // CLASSES * CLASSES - 1,
        cmyk=middle + CLASSES // 2,
        cut_off=middle + CLASSES // 3,
    )
    whole = encoded(odd.cut_off // CLASSES)
    replace(root / place(odd.tiff), encoded(odd.tiff // CLASSES, kind="TIFF"))
    replace(root / place(odd.cmyk), encoded(odd.cmyk // CLASSES, mode="CMYK"))
    replace(root / place(odd.cut_off), whole[: len(whole) * 9 // 10])
    return odd


def replace(path: Path, content: bytes) -> None:
    """A file of its own in the link's place."""
    path.unlink()
    path.write_bytes(content)


def data_set(root: Path) -> Any:
    """The folder with the usual training transforms, small."""
    steps = [transforms.RandomResizedCrop(16), transforms.PILToTensor()]
    return datasets.ImageFolder(str(root), transforms.Compose(steps))


def numbers_of(images: torch.Tensor, labels: torch.Tensor) -> list[int]:
    """Which samples a batch holds: N x 3 x 16 x 16 plain images and their classes."""
    middle = images[:, :, 8, 8].numpy().astype(np.int64)
    level = (middle + LEVEL_STEP // 2) // LEVEL_STEP
    colour = (level[:, 2] * LEVELS + level[:, 1]) * LEVELS + level[:, 0]
    numbers: list[int] = (colour * CLASSES + labels.numpy()).tolist()
    return numbers


@dataclass
class Pass:
    """What a loop over a loader got."""

    samples: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    first_batch_s: float = 0.0
    seconds: float = 0.0
    #: What `state_dict()` gave behind so many batches, through JSON.
    states: dict[int, str] = field(default_factory=dict)


def batches_of(iterator: Any, errors: list[str]) -> Iterator[Any]:
    """As a loop that goes on behind a batch that fails, up to a point."""
    while len(errors) < MOST_ERRORS:
        try:
            yield next(iterator)
        except StopIteration:
            return
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")


def consume(loader: Any, save_behind: Sequence[int] = ()) -> Pass:
    """One epoch; its place is saved behind some of its batches, counting those that failed."""
    done = Pass()
    begun = time.monotonic()
    for number, (images, labels) in enumerate(batches_of(iter(loader), done.errors), 1):
        if not done.samples:
            done.first_batch_s = time.monotonic() - begun
        done.samples.extend(numbers_of(images, labels))
        behind = number + len(done.errors)
        if behind in save_behind:
            done.states[behind] = json.dumps(loader.state_dict())
    done.seconds = time.monotonic() - begun
    return done


def shuffled(kind: Any, dataset: Any, workers: int) -> Any:
    """A loader whose next epoch has the order of `SEED`."""
    generator = torch.Generator()
    generator.manual_seed(SEED)
    return kind(dataset, BATCH, shuffle=True, num_workers=workers, generator=generator)


def rank_pass(root: str, rank: int, ranks: int, workers: int) -> Pass:
    """One rank's share of an epoch, in a process of its own."""
    dataset = data_set(Path(root))
    sampler: Any = DistributedSampler(dataset, ranks, rank, seed=SEED, drop_last=False)
    return consume(DataLoader(dataset, BATCH, sampler=sampler, num_workers=workers))


class Judge:
    """Holds what was got against what there is, and torch's answers for the odd batches."""

    def __init__(self, dataset: Any, odd: OddFiles, workers: int) -> None:
        self.dataset = dataset
        self.odd = odd
        self.workers = workers
        self.failed = False
        index_of = {(path, label): index for index, (path, label) in enumerate(dataset.samples)}
        root = Path(dataset.root)
        self.places = {
            name: index_of[(str(root / place(number)), number % CLASSES)]
            for name, number in asdict(odd).items()
        }

    def say(self, what: str, good: bool, text: str) -> None:
        self.failed = self.failed or not good
        print(f"{'ok    ' if good else 'FAILED'} {what:28} {text}", flush=True)

    def torch_batch(self, indices: list[int]) -> tuple[list[int], list[str]]:
        """What torch gives for one batch of the data set's indices."""
        errors: list[str] = []
        loader: Any = data.DataLoader(
            self.dataset, batch_sampler=[indices], num_workers=min(1, self.workers)
        )
        numbers = [n for batch in batches_of(iter(loader), errors) for n in numbers_of(*batch)]
        return numbers, errors

    def odd_batches(self, batches: list[list[int]]) -> tuple[list[int], list[str]]:
        """torch's samples and errors of the batches that hold an odd file."""
        odd = set(self.places.values())
        samples: list[int] = []
        errors: list[str] = []
        for batch in batches:
            if odd.intersection(batch):
                got, said = self.torch_batch(batch)
                samples += got
                errors += said
        return samples, errors

    def check(self, what: str, got: list[Pass], batches: list[list[int]]) -> None:
        """`got` together against these batches of the data set's indices."""
        plain = [b for b in batches if not set(self.places.values()).intersection(b)]
        samples, errors = self.odd_batches(batches)
        paths = self.dataset.samples
        wanted = samples + [
            int(Path(paths[index][0]).stem) * CLASSES + paths[index][1]
            for batch in plain
            for index in batch
        ]
        found = [number for one in got for number in one.samples]
        said = [error for one in got for error in one.errors]
        exact = sorted(found) == sorted(wanted)
        as_torch = [first_and_last(e) for e in said] == [first_and_last(e) for e in errors]
        seconds = max(one.seconds for one in got)
        text = f"{len(found):,} samples in {seconds:.1f} s, first batch after "
        text += f"{max(one.first_batch_s for one in got):.2f} s"
        if not exact:
            lost, more = set(wanted) - set(found), set(found) - set(wanted)
            text += f"; {len(lost)} lost ({sorted(lost)[:5]}), {len(more)} not asked for"
            text += f", {len(found) - len(set(found))} twice"
        if not as_torch:
            text += f"; errors {said[:3]}, torch's {errors}"
        self.say(what, exact and as_torch, text)


def first_and_last(error: str) -> tuple[str, str]:
    """Of an error's text what does not depend on the worker and its stack."""
    lines = [line for line in error.splitlines() if line.strip()]
    first = lines[0].split(" in DataLoader worker")[0]
    return first, lines[-1]


def shuffled_batches(dataset: Any) -> list[list[int]]:
    """The order that `shuffled` gives, by torch itself."""
    loader = shuffled(data.DataLoader, dataset, 0)
    torch.empty((), dtype=torch.int64).random_(generator=loader.generator)  # the workers' seed
    return [list(batch) for batch in loader.batch_sampler]


def rank_batches(dataset: Any, rank: int, ranks: int) -> list[list[int]]:
    """A rank's batches, by torch itself."""
    sampler: Any = DistributedSampler(dataset, ranks, rank, seed=SEED, drop_last=False)
    return [list(batch) for batch in data.BatchSampler(sampler, BATCH, False)]


def run(root: Path, odd: OddFiles, options: argparse.Namespace) -> bool:
    """Every check; whether all held."""
    begun = time.monotonic()
    dataset = data_set(root)
    print(f"torchvision listed {len(dataset):,} files in {time.monotonic() - begun:.1f} s")
    judge = Judge(dataset, odd, options.workers)
    explanation = DataLoader(dataset, BATCH).explain()
    judge.say("engine", explanation.engine == "native", explanation.engine)
    in_order = [list(batch) for batch in data.BatchSampler(range(len(dataset)), BATCH, False)]
    plain = consume(DataLoader(dataset, BATCH, num_workers=options.workers))
    judge.check("in order", [plain], in_order)
    batches = shuffled_batches(dataset)
    points = [samples // BATCH for samples in options.resume]
    whole = consume(shuffled(DataLoader, dataset, options.workers), points)
    judge.check("shuffled epoch", [whole], batches)
    for behind, state in whole.states.items():
        resumed = shuffled(DataLoader, dataset, options.workers)
        resumed.load_state_dict(json.loads(state))
        judge.check(f"resumed at {behind * BATCH:,}", [consume(resumed)], batches[behind:])
    # Processes that may have workers of their own, which those of a multiprocessing.Pool may not.
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        ranks = [pool.submit(rank_pass, str(root), rank, 2, options.workers) for rank in range(2)]
        shares = [rank.result() for rank in ranks]
    for rank, share in enumerate(shares):
        judge.check(f"rank {rank} of 2", [share], rank_batches(dataset, rank, 2))
    return not judge.failed


def main() -> int:
    """Makes the files, checks, says what held."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=1_280_000, help="files")
    parser.add_argument("--workers", type=int, default=2, help="num_workers of every loader")
    parser.add_argument("--resume", type=int, nargs="*", help="samples behind which to resume")
    parser.add_argument("--folder", type=Path, help="where the temporary folder is made")
    options = parser.parse_args()
    if not 10_000 <= options.count <= CLASSES * LEVELS**3:
        parser.error(f"--count: 10,000 to {CLASSES * LEVELS**3:,} files can be told apart")
    if options.resume is None:
        options.resume = [options.count * 10 // 128, options.count * 120 // 128]
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        begun = time.monotonic()
        odd = make_files(Path(temporary), options.count)
        print(f"made {options.count:,} files in {time.monotonic() - begun:.1f} s", flush=True)
        good = run(Path(temporary) / "train", odd, options)
    print("every sample once, errors as torch's" if good else "NOT as it has to be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
