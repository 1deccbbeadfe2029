#!/usr/bin/env python3
"""What a loader's files cost below a trial's layers, and without them.

    bench/isolation/layer_cost.py --files 3000 --rounds 8

A job reads every file of a folder of photographs (open, stat, read, close) over and over, one pass
a step, and prints what a pass took; what it reads stays in the page cache. It runs in turn under
`unstarve run` and as the first trial of `unstarve run --fix`, which has layers. Prints the median
pass of each run for a file, in us, and the median of the ratios of neighbours. As an ordinary user
it is their layers that are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
PHOTOS = sorted((ROOT / "tests/data/photos").glob("*.jpg"))
PASSES = 12

# A dozen steps of an optimizer, without which there is no trial.
JOB = """
import os, sys, time
import torch
weight = torch.nn.Parameter(torch.zeros(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
folder, passes = sys.argv[1], int(sys.argv[2])
names = sorted(os.path.join(folder, name) for name in os.listdir(folder))
took = []
for _ in range(passes):
    began = time.perf_counter()
    for name in names:
        with open(name, "rb", buffering=0) as file:
            os.fstat(file.fileno())
            file.read()
    took.append((time.perf_counter() - began) / len(names))
    optimizer.zero_grad()
    weight.sum().backward()
    optimizer.step()
print("TOOK", sorted(took)[len(took) // 2])
"""


def took_us(log: str) -> float:
    (line,) = [line for line in log.splitlines() if line.startswith("TOOK")]
    return 1e6 * float(line.split()[1])


def run(options: list[str], out: Path, job: list[str]) -> str:
    command = [str(UNSTARVE), "run", *options, "--no-live", "--out", str(out), "--", *job]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    log = out / "before/output.log"
    if not log.exists():
        done.check_returncode()
        return done.stdout
    return log.read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unstarve-layers-", dir=Path.cwd()) as temporary:
        base = Path(temporary)
        (base / "data").mkdir()
        for index in range(arguments.files):
            shutil.copy(PHOTOS[index % len(PHOTOS)], base / f"data/{index:06d}.jpg")
        (base / "job.py").write_text(JOB)
        job = [sys.executable, str(base / "job.py"), str(base / "data"), str(PASSES)]
        plain, layered = [], []
        for index in range(arguments.rounds):
            plain.append(took_us(run([], base / f"plain{index}", job)))
            fix = ["--fix", "--trial-seconds", "0"]
            layered.append(took_us(run(fix, base / f"layers{index}", job)))
        ratios = [with_them / without for with_them, without in zip(layered, plain, strict=True)]
    result = {
        "user": os.geteuid(),
        "files": arguments.files,
        "plain_us": [round(one, 2) for one in plain],
        "layers_us": [round(one, 2) for one in layered],
        "ratio": round(statistics.median(ratios), 3),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
