#!/usr/bin/env python3
"""Our workers against torch's DataLoader on data sets that only Python can read.

Both run the same data set, collate function and number of workers in the same process, in turn;
their batches are compared before anything is timed. Shown are medians over the repeats: samples
per second, samples per CPU-second (user and system time of the process and its workers), and the
ratio of the two loaders within each repeat.

    PYTHONPATH=build/release/python python bench/python_path/compare_workers.py --json result.json
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader
from unstarve.workers import make_iterator

MEGABYTE = 1 << 20


class Arrays:
    """A custom __getitem__ that reads a float32 array of 1 MB from memory and changes it."""

    def __init__(self, length: int) -> None:
        random = np.random.default_rng(0)
        self.source = random.random((64, MEGABYTE // 4), dtype=np.float32)
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.source[index % 64] * np.float32(index % 7), index


class Tensors(Arrays):
    """The same as tensors."""

    def __getitem__(self, index: int) -> Any:
        array, label = super().__getitem__(index)
        return torch.from_numpy(array), label


class Files:
    """A custom __getitem__ that loads a .npy file of 1 MB."""

    def __init__(self, length: int, folder: Path) -> None:
        self.paths = [folder / f"{number}.npy" for number in range(64)]
        self.length = length
        random = np.random.default_rng(0)
        for path in self.paths:
            if not path.exists():
                np.save(path, random.random(MEGABYTE // 4, dtype=np.float32))

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return np.load(self.paths[index % 64]), index


class Small:
    """Samples of a few bytes: what is left is the loader's own work."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return {"features": np.full(16, index, np.float32), "label": index}


class Case(NamedTuple):
    name: str
    dataset: Any
    batch_size: int
    collate: Callable[[list[Any]], Any] | None = None


def stack_arrays(samples: list[Any]) -> Any:
    """A custom collate function that knows nothing of torch."""
    return np.stack([array for array, _ in samples]), [label for _, label in samples]


class Run(NamedTuple):
    wall_s: float
    cpu_s: float


def cpu_s() -> float:
    """Of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def touch(batch: Any) -> float:
    """Reads every page of the batch, as a copy to a device would."""
    first = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    array = first if isinstance(first, np.ndarray) else first.numpy()
    return float(array.reshape(-1)[:: 4096 // array.itemsize].sum())


def epoch(case: Case, workers: int, ours: bool) -> Run:
    """One epoch, from the first batch that came on; worker start and end count as CPU time."""
    torch.manual_seed(0)
    loader = DataLoader(case.dataset, case.batch_size, num_workers=workers, collate_fn=case.collate)
    before = cpu_s()
    iterator = make_iterator(loader) if ours else iter(loader)
    touch(next(iterator))
    start = time.perf_counter()
    for batch in iterator:
        touch(batch)
    wall = time.perf_counter() - start
    del iterator, loader
    return Run(wall, cpu_s() - before)


def same(first: Any, second: Any) -> bool:
    if isinstance(first, (torch.Tensor, np.ndarray)):
        return type(first) is type(second) and bool((first == second).all())
    if isinstance(first, dict):
        return list(first) == list(second) and all(same(first[k], second[k]) for k in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def check(case: Case, workers: int) -> None:
    """Raises if a batch differs from torch's."""
    options = {"num_workers": workers, "collate_fn": case.collate}
    loader = DataLoader(case.dataset, case.batch_size, **options)
    for number, (ours, theirs) in enumerate(zip(make_iterator(loader), loader, strict=True)):
        if not same(ours, theirs):
            raise SystemExit(f"{case.name}: batch {number} differs from torch's")


def compare(case: Case, workers: int, repeats: int) -> dict[str, Any]:
    check(case, workers)
    runs: dict[bool, list[Run]] = {True: [], False: []}
    for repeat in range(repeats):
        for ours in (True, False) if repeat % 2 else (False, True):
            runs[ours].append(epoch(case, workers, ours))
    pairs = list(zip(runs[True], runs[False], strict=True))
    timed = len(case.dataset) - case.batch_size

    def per_second(ours: bool) -> float:
        return timed / statistics.median(run.wall_s for run in runs[ours])

    def per_cpu_second(ours: bool) -> float:
        return len(case.dataset) / statistics.median(run.cpu_s for run in runs[ours])

    return {
        "case": case.name,
        "workers": workers,
        "repeats": repeats,
        "unstarve_per_s": per_second(True),
        "torch_per_s": per_second(False),
        "wall_ratio": statistics.median(b.wall_s / a.wall_s for a, b in pairs),
        "unstarve_per_cpu_s": per_cpu_second(True),
        "torch_per_cpu_s": per_cpu_second(False),
        "cpu_ratio": statistics.median(b.cpu_s / a.cpu_s for a, b in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--samples", type=int, default=2000, help="of 1 MB, per epoch")
    parser.add_argument("--files", type=Path, help="folder for .npy files; without: left out")
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    cases = [
        Case("1 MB arrays", Arrays(options.samples), 32),
        Case("1 MB tensors", Tensors(options.samples), 32),
        Case("1 MB arrays, own collate", Arrays(options.samples), 32, stack_arrays),
        Case("small samples", Small(options.samples * 20), 32),
    ]
    if options.files:
        options.files.mkdir(parents=True, exist_ok=True)
        cases.insert(0, Case("1 MB .npy files", Files(options.samples, options.files), 32))
    print(f"{os.cpu_count()} CPUs, torch {torch.__version__}, batches of 32, medians")
    print(f"{'':26}workers   samples/s (torch)  ratio   per CPU-s (torch)  ratio")
    results = []
    for case in cases:
        if options.only and options.only not in case.name:
            continue
        for workers in options.workers:
            row = compare(case, workers, options.repeats)
            results.append(row)
            print(
                f"{case.name:26}{workers:7}{row['unstarve_per_s']:10.0f}"
                f" ({row['torch_per_s']:6.0f}){row['wall_ratio']:7.2f}"
                f"{row['unstarve_per_cpu_s']:10.0f} ({row['torch_per_cpu_s']:6.0f})"
                f"{row['cpu_ratio']:8.2f}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
