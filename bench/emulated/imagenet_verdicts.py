#!/usr/bin/env python3
"""Is the live verdict right on a script that others wrote?

    git clone PYTORCH_EXAMPLES DIR
    bench/emulated/imagenet_verdicts.py --examples DIR --python .venv/bin/python

Runs pytorch/examples' imagenet/main.py (ResNet-50, unchanged) under `unstarve run --fix --emulate`
with 0, 1, 2 and 4 workers, on two GPUs, from files that come at once and from files that come 20 ms
late each (bench/slow_files). What is right is not taken from us: the script prints how long it
waited for data, and the reason follows from how the files were made to come. Prints a row per run;
exits 1 where a cause or a detail is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
PHOTOS = sorted((ROOT / "tests/data/photos").glob("*.jpg"))
SLOW_OPEN = ROOT / "bench/slow_files/slow_open.c"
LATE_MS = 20
# Of a step, in which the script waits for data: the GPU has queued work meanwhile, its backward
# pass, so that it is certain to idle from the second on, and may from the first on.
HARDLY, STARVING = 0.1, 0.3
PRINTED = re.compile(r"Time +([\d.]+) \([ \d.]+\)\s+Data +([\d.]+) \(")


@dataclass(frozen=True)
class Cell:
    gpu: str
    late: bool
    workers: int

    def details(self) -> set[str]:
        """What may be said to be the reason, where the loader is what starves the GPU."""
        if self.late:
            return {"late_storage", "storage"}
        cpus = len(os.sched_getaffinity(0))
        if self.workers < cpus:
            return {"too_few_workers", "decode_cpu", "python_transform"}
        return {"decode_cpu", "python_transform", "too_many_workers"}


def make_images(folder: Path, count: int, copies: int) -> None:
    """Different crops of the photographs, some 500 x 375 as ImageNet's are, each by several names:
    an epoch has to outlast a trial, or what starting it takes is all that is measured."""
    for index in range(count):
        part = "train" if index % 8 else "val"
        target = folder / part / ("cat", "dog")[index % 2 if part == "train" else index // 8 % 2]
        target.mkdir(parents=True, exist_ok=True)
        with Image.open(PHOTOS[index % len(PHOTOS)]) as photo:
            scale = 0.6 + (index * 7 % 40) / 100
            width, height = (int(side * scale) for side in photo.size)
            left = index * 13 % (photo.width - width + 1)
            top = index * 29 % (photo.height - height + 1)
            crop = photo.convert("RGB").crop((left, top, left + width, top + height))
            crop.resize((500, 375)).save(target / f"{index}.jpg", quality=90)
        for copy in range(1, copies if part == "train" else 1):
            (target / f"{index}-{copy}.jpg").hardlink_to(target / f"{index}.jpg")


def build_slow_open(folder: Path) -> Path:
    library = folder / "slow_open.so"
    command = ["cc", "-O1", "-shared", "-fPIC", str(SLOW_OPEN), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    return library


def environment_of(cell: Cell, slow_open: Path, images: Path) -> dict[str, str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    if cell.late:
        environment["LD_PRELOAD"] = str(slow_open)
        environment["SLOW_FOLDER"] = str(images)
        environment["SLOW_MS"] = str(LATE_MS)
    return environment


def run_cell(
    arguments: argparse.Namespace, cell: Cell, folder: Path, slow_open: Path
) -> tuple[dict[str, Any], str]:
    """What was diagnosed of the job as it is, and what all of it printed."""
    images = folder / "images"
    out = folder / f"{cell.gpu}-{'late' if cell.late else 'disk'}-{cell.workers}"
    script = [str(arguments.examples / "imagenet/main.py"), str(images), "-a", arguments.model]
    script += ["-b", str(arguments.batch), "-j", str(cell.workers), "--epochs", "1"]
    # Its printing waits for the GPU, in what it counts as the next step's wait for data: with every
    # third step printed, no step that is printed has that.
    script += ["-p", "3"]
    command = [str(UNSTARVE), "run", "--emulate", cell.gpu, "--out", str(out)]
    if arguments.fix:
        command += ["--fix", "--trial-seconds", str(arguments.seconds)]
    command += ["--json", f"{out}.json", "--", arguments.python, *script]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment_of(cell, slow_open, images),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if not Path(f"{out}.json").exists():
        sys.exit(f"{cell}: no verdict, exit {done.returncode}:\n{done.stdout[-3000:]}")
    # Of several runs the first, the job as it is, is the one that is diagnosed.
    printed = out / "before/output.log" if arguments.fix else None
    text = printed.read_text(errors="replace") if printed else done.stdout
    return json.loads(Path(f"{out}.json").read_text()), text


def data_share(text: str) -> float:
    """Of the steps behind the first, in which workers start, as the script itself measured it."""
    steps = [(float(a), float(b)) for a, b in PRINTED.findall(text.split("Test:")[0])[1:]]
    whole_s = sum(time_s for time_s, _ in steps)
    return sum(data_s for _, data_s in steps) / whole_s if whole_s else float("nan")


def predictions(told: Any) -> Iterator[tuple[str, bool]]:
    """Of every remedy that was tried: predicted and measured in words, whether it held."""
    for tried in told.get("verification", []):
        predicted, measured = tried["predicted"], tried["measured"]
        if "speedup" in predicted:
            said = "{speedup:.2f} [{low:.2f}..{high:.2f}]".format(**predicted)
            missed = "" if tried["held"] else " MISSED"
            text = f"{tried['remedy']} {said} predicted {measured['speedup']:.2f} measured{missed}"
            yield text, tried["held"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True, help="a clone of pytorch/examples")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with PyTorch")
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--images", type=int, default=1600)
    parser.add_argument("--copies", type=int, default=8, help="names of each image")
    parser.add_argument("--gpus", nargs="+", default=["a100", "l4"])
    parser.add_argument("--workers", nargs="+", type=int, default=[0, 1, 2, 4])
    parser.add_argument("--seconds", type=float, default=15, help="of one trial")
    parser.add_argument("--no-fix", dest="fix", action="store_false", help="try no remedies")
    parser.add_argument("--only", choices=["disk", "late"], help="files that come at once, or late")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    arguments.examples = arguments.examples.absolute()
    arguments.python = str(Path(arguments.python).absolute())
    wrong = held = tried = 0
    with tempfile.TemporaryDirectory(prefix="unstarve-verdicts-") as temporary:
        folder = Path(temporary)
        make_images(folder / "images", arguments.images, arguments.copies)
        late = [each for each in (False, True) if arguments.only in (None, ("disk", "late")[each])]
        slow_open = build_slow_open(folder) if True in late else Path()
        for cell in itertools.starmap(
            Cell, itertools.product(arguments.gpus, late, arguments.workers)
        ):
            told, text = run_cell(arguments, cell, folder, slow_open)
            share = data_share(text)
            lead = (told.get("findings") or [{}])[0]
            said = f"{lead.get('cause', '-')}/{lead.get('detail', '-')}"
            starves = lead.get("cause") == "input_wait"
            right = starves == (share >= STARVING) or HARDLY <= share < STARVING
            right = right and (not starves or lead.get("detail") in cell.details())
            wrong += not right
            outcomes = list(predictions(told))
            tried += len(outcomes)
            held += sum(kept for _, kept in outcomes)
            partition = told.get("partition") or {}
            print(
                f"{cell.gpu:5} {'late' if cell.late else 'disk':4} {cell.workers} workers  "
                f"script: {share:5.1%} waiting for data  "
                f"ours: {partition.get('input_wait', float('nan')):5.1%} {said:32} "
                f"{'right' if right else 'WRONG'}  " + "; ".join(text for text, _ in outcomes),
                flush=True,
            )
    print(f"wrong verdicts: {wrong}; predictions held: {held} of {tried}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
