"""One loader in a process of its own, driven line by line by compare_loaders.py.

Reads commands on standard input: `evaluate DIR` writes the evaluation images of the data set
(short side 256, centre 224) as DIR/NAME.npy; `epoch` loads one training epoch
(RandomResizedCrop(224, antialias) + horizontal flip, uint8, batches of 64) and
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
from pathlib import Path
from typing import Any

import numpy as np
from loaders import LOADERS


def cpu_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def answer(out: Any, message: dict[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loader", choices=sorted(LOADERS))
    parser.add_argument("root", type=Path)
    parser.add_argument("scratch", type=Path, help="folder for data in a loader's own form")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    # Libraries print to standard output now and then; answers have a descriptor of their own.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    loader = LOADERS[args.loader](args.root, args.threads, args.scratch)
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
            images = sum(loader.epoch())
            wall = time.perf_counter() - wall
            cpu = cpu_seconds()
            answer(out, {"images": images, "wall_s": wall, "cpu_s": cpu - counted_cpu})
            counted_cpu = cpu
    return 0


if __name__ == "__main__":
    sys.exit(main())
