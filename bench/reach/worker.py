"""One pipeline with one loader in a process of its own, driven line by line by reach.py.

`pass` goes once through the data and answers with a JSON line: images, CPU seconds of this process
and of all that it started, and what the batches were. `keep FILE` keeps the first batches.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from pipelines import load_all

KEPT_BATCHES = 2


def children_of(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that ended meanwhile
            yield from map(int, (task / "children").read_text().split())


def cpu_s() -> float:
    """Of this process, of its children that have ended, and of those that live."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    total = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    ticks = os.sysconf("SC_CLK_TCK")
    for child in children_of(os.getpid()):
        with contextlib.suppress(FileNotFoundError):  # counted above at the next look
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / ticks
    return total


def tensors_in(batch: Any) -> Iterator[Any]:
    if isinstance(batch, torch.Tensor):
        yield batch
    elif hasattr(batch, "values"):
        for part in batch.values():
            yield from tensors_in(part)
    elif isinstance(batch, (list, tuple)):
        for part in batch:
            yield from tensors_in(part)


def go_through(loader: Any) -> dict[str, Any]:
    before = cpu_s()
    batches: list[list[str]] = []
    total = square = count = 0.0
    for batch in loader:
        tensors = list(tensors_in(batch))
        pixels = max(tensors, key=lambda tensor: tensor.numel())
        values = pixels.flatten()[::97].double()
        total, square = total + float(values.sum()), square + float(values.square().sum())
        count += len(values)
        if len(batches) < KEPT_BATCHES:
            batches.append([str(tensor.dtype) for tensor in tensors])
        del batch, tensors, pixels, values
    mean = total / count
    return {
        "cpu_s": cpu_s() - before,
        "kinds": batches,
        "mean": mean,
        "deviation": max(square / count - mean * mean, 0.0) ** 0.5,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("data", type=Path)
    parser.add_argument("loader", choices=["torch", "unstarve"])
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    # Libraries print to standard output now and then; answers have a descriptor of their own.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    torch.set_num_threads(1)
    if arguments.loader == "torch":
        from torch.utils.data import DataLoader
    else:
        from unstarve import DataLoader
    torch.manual_seed(0)
    loader = load_all()[arguments.pipeline].make(arguments.data, DataLoader)
    said = {"engine": "torch", "reason": ""}
    if arguments.loader == "unstarve":
        explanation = loader.explain()
        said = {"engine": explanation.engine, "reason": explanation.reason}
    print(json.dumps(said), file=out, flush=True)
    for line in sys.stdin:
        command, *given = line.split()
        if command == "keep":
            torch.manual_seed(1)
            kept = [batch for batch, _ in zip(loader, range(KEPT_BATCHES), strict=False)]
            torch.save([[part.clone() for part in tensors_in(batch)] for batch in kept], given[0])
            print("{}", file=out, flush=True)
        else:
            print(json.dumps(go_through(loader)), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
