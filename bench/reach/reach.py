#!/usr/bin/env python3
"""Which scripts gain? The data pipelines of 30 public training scripts, with one import changed.

    pip install -r bench/reach/requirements.txt
    bench/reach/reach.py FOLDER

FOLDER is for the data, which are made of the photographs of tests/data. Each pipeline runs with
torch's DataLoader and with unstarve's, in a process each, passes in turn. Before anything is timed
their results are compared: pixels of those that are not random (within 2 of 255 where the images
are resized), types, means and deviations of the others. The figure is images per CPU second (user
and system, workers included): medians over the passes, and the ratio within each repeat.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from made_data import make
from pipelines import Pipeline, load_all

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOADERS = ("torch", "unstarve")
#: In units of a pixel's value, behind Normalize.
PIXEL = 1 / 255 / 0.224
#: Of the values' deviation: random pipelines draw other numbers in each pass.
APART_MAX = 0.12


class Worker:
    def __init__(self, pipeline: str, data: Path, loader: str) -> None:
        paths = [str(ROOT / "build/release/python"), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), pipeline, str(data), loader],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.said = self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args!r} ended with {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, command: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        print(command, file=self.process.stdin, flush=True)
        return self.read()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def difference(pipeline: Pipeline, workers: dict[str, Worker], data: Path) -> str:
    """How the results of both loaders differ, in words; an empty text where they do not."""
    if pipeline.is_random:
        ours, theirs = (workers[name].ask("pass") for name in ("unstarve", "torch"))
        if ours["kinds"] != theirs["kinds"]:
            return f"types {ours['kinds']}, torch's {theirs['kinds']}"
        far = max(abs(ours[what] - theirs[what]) for what in ("mean", "deviation"))
        share = far / max(theirs["deviation"], 1e-9)
        return f"{share:.0%} of a deviation apart" if share > APART_MAX else ""
    kept = {}
    for name, worker in workers.items():
        path = data / f"{name}.pt"
        worker.ask(f"keep {path}")
        kept[name] = torch.load(path, weights_only=True)
        worker.ask("pass")
    for ours, theirs in zip(kept["unstarve"], kept["torch"], strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            if mine.dtype != other.dtype or mine.shape != other.shape:
                return f"{mine.dtype} {tuple(mine.shape)}, torch's {other.dtype} {other.shape}"
            away = float((mine.double() - other.double()).abs().max())
            if away > 2.1 * PIXEL and mine.is_floating_point():
                return f"{away / PIXEL:.1f} of 255 apart"
            if away > 0 and not mine.is_floating_point() and mine.dim() < 2:
                return "other labels"
    return ""


def measure(pipeline: Pipeline, arguments: argparse.Namespace) -> dict[str, Any]:
    workers = {name: Worker(pipeline.name, arguments.folder, name) for name in LOADERS}
    try:
        differs = difference(pipeline, workers, arguments.folder)
        cpu: dict[str, list[float]] = {name: [] for name in LOADERS}
        for number in range(arguments.repeats):
            for name in LOADERS if number % 2 else LOADERS[::-1]:
                cpu[name].append(workers[name].ask("pass")["cpu_s"])
    finally:
        for worker in workers.values():
            worker.close()
    ratios = [theirs / ours for theirs, ours in zip(cpu["torch"], cpu["unstarve"], strict=True)]
    return {
        "pipeline": pipeline.name,
        "kind": pipeline.kind,
        "source": pipeline.source,
        **workers["unstarve"].said,
        "torch": arguments.images / statistics.median(cpu["torch"]),
        "unstarve": arguments.images / statistics.median(cpu["unstarve"]),
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "differs": differs,
    }


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['kind']:15s} {row['pipeline']:30s} {row['engine']:7s} "
        f"{row['torch']:7.0f} {row['unstarve']:7.0f} {row['ratio']:6.2f}x "
        f"[{row['least']:.2f}..{row['most']:.2f}] {row['differs']}",
        flush=True,
    )


def summarise(rows: list[dict[str, Any]], count: int) -> None:
    ratios = [row["ratio"] for row in rows]
    print(
        f"{len(rows)} of {count}: {sum(ratio >= 2 for ratio in ratios)} at 2x or more, "
        f"{sum(ratio < 1 for ratio in ratios)} below 1x, the median "
        f"{statistics.median(ratios):.2f}x; {sum(bool(row['differs']) for row in rows)} differ"
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="for the data")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--images", type=int, default=1536, help="in a pass")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="a file for the rows")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    arguments.folder = arguments.folder.absolute()
    arguments.folder /= str(arguments.images)
    make(arguments.folder, arguments.images)
    pipelines = load_all()
    unknown = set(arguments.only) - set(pipelines)
    if unknown:
        raise SystemExit(f"no pipeline named {', '.join(sorted(unknown))}")
    print("kind            pipeline                       engine    torch    ours   ratio")
    rows = []
    for name in arguments.only or pipelines:
        try:
            rows.append(measure(pipelines[name], arguments))
        except (RuntimeError, ValueError) as error:
            print(f"{name}: {error}", flush=True)
            continue
        show(rows[-1])
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    if rows:
        summarise(rows, len(arguments.only or pipelines))
    return 0 if len(rows) == len(arguments.only or pipelines) else 1


if __name__ == "__main__":
    sys.exit(main())
