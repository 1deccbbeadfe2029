#!/usr/bin/env python3
"""Holds predicted gains of remedies of the training against what set A's plants cost.

    tests/starving/predicted_gains.py
    tests/starving/predicted_gains.py --only few_shot many_metrics

Each job is watched, for the prediction; then it is run unwatched as it is, with the plant taken
out, and as it is again (A/B/A), for the gain. A cure that makes a batch larger is measured at twice
the batch, which is what is predicted.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

from planted import Cure, Job
from running import ROOT, Machine, make_images, time_unwatched, watch
from set_a import SET_A

#: A job, which of its plants, and the remedy that takes that one out.
CURED_BY = (
    ("few_shot", 0, "persistent_workers"),
    ("many_metrics", 0, "remove_sync"),
    ("timed_layers", 0, "remove_sync"),
    ("printed_losses", 0, "remove_sync"),
    ("deep_and_narrow", 0, "larger_batch"),
    ("from_scratch", 0, "larger_batch"),
    ("histogram_each_step", 0, "move_host_work"),
    ("careful_with_memory", 0, "move_host_work"),
    ("safe_checkpoints", 0, "move_host_work"),
    ("photos_and_scores", 1, "move_host_work"),
    ("volumes", 0, "pin_memory"),
)


def at_twice_the_batch(cure: Cure) -> Cure:
    return tuple((old, new.replace("8 * ", "2 * ").replace("+= 8", "+= 2")) for old, new in cure)


def predicted(told: dict[str, Any], remedy: str) -> dict[str, float] | None:
    for finding in told["findings"]:
        for offered in finding["remedies"]:
            if offered["id"] == remedy and "speedup" in offered["predicted"]:
                gain: dict[str, float] = offered["predicted"]
                return gain
    return None


def measured(machine: Machine, job: Job, cure: Cure, folder: Path) -> tuple[float, float] | None:
    """The gain, and how far apart the two runs without the cure are."""
    before_s, _ = time_unwatched(machine, job, (), folder, job.neighbours)
    after_s, _ = time_unwatched(machine, job, cure, folder, job.neighbours)
    again_s, _ = time_unwatched(machine, job, (), folder, job.neighbours)
    if before_s is None or after_s is None or again_s is None:
        return None
    return math.sqrt(before_s * again_s) / after_s, again_s / before_s - 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these jobs alone")
    parser.add_argument("--seconds", type=float, default=6, help="of training, for each run")
    parser.add_argument("--gpu", default="a100", help="to emulate; '' for the one that is there")
    parser.add_argument("--unstarve", type=Path, default=ROOT / "build/release/src/cli/unstarve")
    parser.add_argument("--data", type=Path, default=ROOT / "build/starving", help="for images")
    arguments = parser.parse_args()
    make_images(arguments.data)
    python = str(Path(sys.executable).absolute())
    data = arguments.data.absolute()
    machine = Machine(arguments.unstarve, python, arguments.gpu, data, arguments.seconds)
    jobs = {job.name: job for job in SET_A}
    inside = shown = 0
    with tempfile.TemporaryDirectory(prefix="unstarve-gains-") as temporary:
        for name, plant, remedy in CURED_BY:
            if arguments.only and name not in arguments.only:
                continue
            job, folder = jobs[name], Path(temporary)
            told, _, printed = watch(machine, job, folder, [])
            cure = job.plants[plant].cure
            if remedy == "larger_batch":
                cure = at_twice_the_batch(cure)
            gain = measured(machine, job, cure, folder)
            if told is None or gain is None:
                print(f"{name:22} no verdict, or no steps\n{printed}", flush=True)
                continue
            expected = predicted(told, remedy)
            words = "not advised, or not predicted"
            if expected is not None:
                held = expected["low"] <= gain[0] <= expected["high"]
                shown += 1
                inside += held
                interval = f"[{expected['low']:.2f}..{expected['high']:.2f}]"
                words = f"{expected['speedup']:6.2f}x {interval:16} {'held' if held else 'MISSED'}"
            print(
                f"{name:22} {remedy:20} {words:36} measured {gain[0]:5.2f}x (again {gain[1]:+.1%})",
                flush=True,
            )
    print(f"{inside} of {shown} inside", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
