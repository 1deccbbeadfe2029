#!/usr/bin/env python3
"""What looking at stacks costs: the time of a loop with the hook's looks and without, alternating.

    bench/watching/looks_cost.py

The loop is the worst there is for it: pure Python, which gives its lock away only when asked, 40
frames deep. Stretches of a second with and without looks alternate in one process, and the pairs
give the difference. Run it on a machine that does nothing else, and whose host does nothing else:
what a look finds in the caches decides what it costs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / "python" / "unstarve" / "hook"
LIBRARY = ROOT / "build/release/lib/libunstarve_looks.so"
DEEP = 40


def work(depth: int = DEEP) -> int:
    """About a millisecond."""
    if depth:
        return work(depth - 1)
    total = 0
    for number in range(15_000):
        total += number
    return total


def stretch(seconds: float) -> float:
    """Seconds for one piece of work."""
    pieces, start = 0, time.perf_counter()
    while time.perf_counter() < start + seconds:
        work()
        pieces += 1
    return (time.perf_counter() - start) / pieces


def in_the_job(pairs: int) -> None:
    sampler = importlib.import_module("_unstarve_hook.lines.sampler")
    recorder = importlib.import_module("_unstarve_hook.recorder")
    looks: Any = sampler.SAMPLER
    now = recorder.now_ns()
    recorder.RECORDER.record(recorder.WAIT, now, now)  # From here on this thread is looked at.
    differences = []
    for number in range(pairs + 1):
        times = {}
        for looked_at in (True, False) if number % 2 else (False, True):
            looks.resume() if looked_at else looks.pause()
            times[looked_at] = stretch(1.0)
        differences.append(100 * (times[True] / times[False] - 1))
    draw = random.Random(1)
    differences = differences[1:]
    medians = sorted(statistics.median(draw.choices(differences, k=pairs)) for _ in range(2000))
    middle = statistics.median(differences)
    print(f"step time: {middle:+.3f} % ({medians[50]:+.3f} to {medians[1949]:+.3f})")
    cpu_us = looks._cpu_ns / looks._looks / 1e3
    share = 100 * looks._cpu_ns / 1e9 / (pairs + 1)  # each pair has a second with looks
    print(f"{looks._looks} looks, {cpu_us:.0f} us of CPU each: {share:.2f} % of a core")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    args = parser.parse_args()
    if "UNSTARVE_RUN_DIR" in os.environ:
        in_the_job(args.pairs)
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rings").mkdir()
        env = {
            "UNSTARVE_LOOKS_LIBRARY": str(LIBRARY),
            **os.environ,
            "UNSTARVE_RUN_DIR": folder,
            "PYTHONPATH": str(HOOK),
        }
        command = [sys.executable, __file__, "--pairs", str(args.pairs)]
        sys.exit(subprocess.run(command, env=env).returncode)


if __name__ == "__main__":
    main()
