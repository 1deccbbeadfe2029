#!/usr/bin/env python3
"""What `run --track` costs a job: CPU of our thread in it, and the training thread's steps.

    bench/watching/tracking_cost.py --pairs 6 --seconds 40

A small network trains on one CPU thread and logs each step to W&B, offline. `unstarve run` watches
it with --track and without, in pairs whose order changes. Our thread's CPU time is the kernel's
(/proc/PID/task/TID/schedstat); as a share of the time it is the most that the thread can keep
Python's lock from the training thread for. What is logged comes every ten seconds, so that means
of steps show it and medians do not. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
AIMED_AT = 0.001

JOB = """
import json, sys, threading, time, torch, wandb

warm_s, seconds, width = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
run = wandb.init(project="p", mode="offline", settings=wandb.Settings(x_disable_stats=True))
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(4)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
rows = torch.randn(64, width)
ours = [one.native_id for one in threading.enumerate() if one.name == "unstarve-track"]

def used_ns():
    return sum(int(open(f"/proc/self/task/{tid}/schedstat").read().split()[0]) for tid in ours)

def step():
    loss = model(rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    run.log({"loss": loss.item()})

ends = time.monotonic() + warm_s
while time.monotonic() < ends:
    step()
walls = []
cpu, thread, begun = used_ns(), time.thread_time_ns(), time.perf_counter_ns()
before = begun
while before - begun < 1e9 * seconds:
    step()
    now = time.perf_counter_ns()
    walls.append(now - before)
    before = now
told = {
    "threads": len(ours), "ours_ns": used_ns() - cpu, "lasted_ns": before - begun,
    "thread_ns": (time.thread_time_ns() - thread) / len(walls),
    "mean_ns": (before - begun) / len(walls), "median_ns": sorted(walls)[len(walls) // 2],
    "rows": "unstarve/verdict" in run.summary.keys(),
}
run.finish()
print("told " + json.dumps(told))
"""
KINDS = {
    "mean step": "mean_ns",
    "median step": "median_ns",
    "CPU of the training thread a step": "thread_ns",
}


def run_job(options: argparse.Namespace, tracked: bool) -> dict[str, Any]:
    words = [str(options.warm), str(options.seconds), str(options.width)]
    with tempfile.TemporaryDirectory(prefix="unstarve-track-") as folder:
        done = subprocess.run(
            [
                *[options.unstarve, "run", "--no-live", "--out", "run"],
                *(["--track"] if tracked else []),
                *["--", options.python, "-c", JOB, *words],
            ],
            cwd=folder,
            env=dict(
                os.environ,
                PYTHONPATH=str(ROOT / "build/release/python"),
                OMP_NUM_THREADS="1",
                WANDB_SILENT="true",
            ),
            capture_output=True,
            text=True,
            check=False,
        )
    said = [line for line in done.stdout.splitlines() if line.startswith("told ")]
    if not said:
        sys.exit(f"the job did not end:\n{done.stdout}{done.stderr}")
    told: dict[str, Any] = json.loads(said[0].removeprefix("told "))
    if told["rows"] != tracked or told["threads"] != int(tracked):
        sys.exit(f"not what --track is to do: {told}")
    return told


def spread(values: Sequence[float], digits: int) -> str:
    """Median, and all of them from the least to the most."""
    median, least, most = statistics.median(values), min(values), max(values)
    return f"{median:+.{digits}f} % ({least:+.{digits}f} to {most:+.{digits}f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=40, help="that are measured of each run")
    parser.add_argument("--warm", type=float, default=12, help="before them; rows come after 10")
    parser.add_argument("--width", type=int, default=1024, help="of the network's layers")
    parser.add_argument("--unstarve", default=str(ROOT / "build/release/src/cli/unstarve"))
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    pairs = []
    for number in range(options.pairs):
        order = (False, True) if number % 2 == 0 else (True, False)
        found = {tracked: run_job(options, tracked) for tracked in order}
        pairs.append((found[False], found[True]))
        plain_ms, tracked_ms = (one["mean_ns"] / 1e6 for one in pairs[-1])
        print(f"pair {number + 1}: {plain_ms:.3f} ms, tracked {tracked_ms:.3f} ms", flush=True)
    shares = [tracked["ours_ns"] / tracked["lasted_ns"] for _, tracked in pairs]
    step_ms = statistics.median(plain["mean_ns"] for plain, _ in pairs) / 1e6
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    print(f"{options.pairs} pairs of {options.seconds:g} s, a step of {step_ms:.2f} ms")
    median = statistics.median(shares)
    print(
        f"our thread: {3600 * median:.2f} s of CPU an hour, {100 * median:.4f} % of a core "
        f"({100 * min(shares):.4f} to {100 * max(shares):.4f})"
    )
    print(
        f"at most {100 * AIMED_AT:g} % aimed at: {'held' if max(shares) < AIMED_AT else 'missed'}"
    )
    for name, key in KINDS.items():
        more = [100 * (tracked[key] / plain[key] - 1) for plain, tracked in pairs]
        print(f"{name}: {spread(more, 2)} with --track")
    return 0


if __name__ == "__main__":
    sys.exit(main())
