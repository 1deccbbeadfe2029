#!/usr/bin/env python3
"""Holds predicted gains of remedies that take an edit of the script against what the edit gains.

    tests/starving/predicted_gains.py
    tests/starving/predicted_gains.py --only few_shot many_metrics

Each job is watched, for the prediction; then it is run unwatched as it is, with the edit, and as it
is again (A/B/A), for the gain. The edit is the plant's cure where that is what the remedy says. A
cure that makes a batch larger is measured at twice the batch, which is what is predicted.
docs/measurements.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gains import Predicted, Tried, predicted_in, score
from planted import Cure, Job
from running import ROOT, Machine, make_images, time_unwatched, watch
from set_a import SET_A
from set_b import SET_B
from set_c import SET_C

JOBS = {job.name: job for job in (*SET_A, *SET_B, *SET_C)}


@dataclass(frozen=True)
class Row:
    """A job, the remedy, and the edit: that of one of its plants, or one of its own."""

    job: str
    remedy: str
    plant: int = 0
    edit: Cure = ()


PINNED_VOLUMES = (
    ("volumes = torch.rand(8, 4, 1, 96, 192, 192)", "volumes = torch.rand(8, 4, 1, 96, 192, 192)"
     ".pin_memory()"),
    ("masks = torch.zeros(8, 4, 1, 96, 192, 192)", "masks = torch.zeros(8, 4, 1, 96, 192, 192)"
     ".pin_memory()"),
    ("volumes[step % 8].cuda()", "volumes[step % 8].cuda(non_blocking=True)"),
    ("masks[step % 8].cuda()", "masks[step % 8].cuda(non_blocking=True)"),
)  # fmt: skip
PINNED_ARRAYS = (
    ('arrays[step % 4].to("cuda")', 'arrays[step % 4].to("cuda", non_blocking=True)'),
    ("started, step", "arrays = [array.pin_memory() for array in arrays]\nstarted, step"),
)
BLOCKS_AHEAD = (
    (
        '    block = blocks[step % 3].to("cuda")\n',
        "    torch.cuda.current_stream().wait_stream(side)\n    block = ahead\n"
        "    with torch.cuda.stream(side):\n"
        '        ahead = blocks[(step + 1) % 3].to("cuda", non_blocking=True)\n',
    ),
    (
        "started, step = time.time(), 0\n",
        'side, ahead = torch.cuda.Stream(), blocks[0].to("cuda")\nstarted, step = time.time(), 0\n',
    ),
)
CHUNKS_AHEAD = (
    (
        "        for chunk in self.chunks:\n"
        "            chunk = chunk.to(queries.device, non_blocking=True)\n",
        "        side, ahead = torch.cuda.Stream(), []\n"
        "        with torch.cuda.stream(side):\n"
        "            for chunk in self.chunks:\n"
        "                copy = chunk.to(queries.device, non_blocking=True)\n"
        "                ahead.append((copy, side.record_event()))\n"
        "        for chunk, copied in ahead:\n"
        "            torch.cuda.current_stream().wait_event(copied)\n",
    ),
)
ROWS = (
    Row("many_metrics", "remove_sync"),
    Row("timed_layers", "remove_sync"),
    Row("printed_losses", "remove_sync"),
    Row("hardest_examples", "remove_sync"),
    Row("guarded_training", "remove_sync"),
    Row("watched_activations", "remove_sync"),
    Row("kept_boxes", "remove_sync"),
    Row("sliding_window", "remove_sync"),
    Row("deep_and_narrow", "larger_batch"),
    Row("from_scratch", "larger_batch"),
    Row("cell_by_cell", "larger_batch"),
    Row("two_players", "larger_batch"),
    Row("deep_ensemble", "larger_batch"),
    Row("next_token", "larger_batch"),
    Row("histogram_each_step", "move_host_work"),
    Row("careful_with_memory", "move_host_work"),
    Row("safe_checkpoints", "move_host_work"),
    Row("masked_words", "move_host_work"),
    Row("full_log", "move_host_work"),
    Row("graded_answers", "move_host_work"),
    Row("drawn_curves", "move_host_work"),
    Row("tidy_trainer", "move_host_work"),
    Row("byte_pairs", "move_host_work"),
    Row("resumable", "move_host_work"),
    Row("few_shot", "persistent_workers"),
    Row("worker_index", "persistent_workers"),
    Row("curriculum", "persistent_workers"),
    Row("forecasts", "persistent_workers"),
    Row("volumes", "pin_memory", edit=PINNED_VOLUMES),
    Row("graded_answers", "pin_memory", edit=PINNED_ARRAYS),
    Row("pinned_blocks", "overlap_copies", edit=BLOCKS_AHEAD),
    Row("nearest_neighbours", "overlap_copies", edit=CHUNKS_AHEAD),
)


def at_twice_the_batch(cure: Cure) -> Cure:
    """Cures of that kind say `8 * ` what was there, or a number that is eight times as large."""
    numbers = re.compile(r"\d+")

    def twice(old: str, new: str) -> str:
        if "8 * " in new:
            return new.replace("8 * ", "2 * ")
        before = iter(numbers.findall(old))

        def smaller(found: re.Match[str]) -> str:
            was = int(next(before))
            return str(2 * was) if int(found[0]) == 8 * was else found[0]

        return numbers.sub(smaller, new)

    return tuple((old, twice(old, new)) for old, new in cure)


def edit_of(row: Row) -> Cure:
    cure = row.edit or JOBS[row.job].plants[row.plant].cure
    return at_twice_the_batch(cure) if row.remedy == "larger_batch" else cure


def predicted(told: dict[str, Any], remedy: str) -> Predicted | None:
    for finding in told["findings"]:
        for offered in finding["remedies"]:
            if offered["id"] == remedy and (found := predicted_in(offered["predicted"])):
                return found
    return None


def measured(machine: Machine, job: Job, edit: Cure, folder: Path) -> tuple[float, float] | None:
    """The gain, and how far apart the two runs without the edit are."""
    before_s, _ = time_unwatched(machine, job, (), folder, job.neighbours)
    after_s, _ = time_unwatched(machine, job, edit, folder, job.neighbours)
    again_s, _ = time_unwatched(machine, job, (), folder, job.neighbours)
    if before_s is None or after_s is None or again_s is None:
        return None
    return math.sqrt(before_s * again_s) / after_s, again_s / before_s - 1


def try_row(machine: Machine, row: Row, told: dict[str, Any], folder: Path) -> Tried | None:
    gain = measured(machine, JOBS[row.job], edit_of(row), folder)
    if gain is None:
        print(f"{row.job:22} {row.remedy:20} no steps", flush=True)
        return None
    tried = Tried(row.remedy, gain[0], predicted(told, row.remedy))
    print(f"{row.job:22} {tried} (again {gain[1]:+.1%})", flush=True)
    return tried


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these jobs alone")
    parser.add_argument("--seconds", type=float, default=6, help="of training, for each run")
    parser.add_argument("--gpu", default="a100", help="to emulate; '' for the one that is there")
    parser.add_argument("--unstarve", type=Path, default=ROOT / "build/release/src/cli/unstarve")
    parser.add_argument("--data", type=Path, default=ROOT / "build/starving", help="for images")
    parser.add_argument("--keep", type=Path, help="a folder for the watched runs and the gains")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    make_images(arguments.data)
    python = str(Path(sys.executable).absolute())
    data = arguments.data.absolute()
    machine = Machine(arguments.unstarve, python, arguments.gpu, data, arguments.seconds)
    rows = [row for row in ROWS if not arguments.only or row.job in arguments.only]
    gains: list[Tried] = []
    failed = 0
    with tempfile.TemporaryDirectory(prefix="unstarve-gains-") as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        told: dict[str, dict[str, Any]] = {}
        for row in rows:
            if row.job not in told:
                answer, _, printed = watch(machine, JOBS[row.job], folder, [])
                if answer is None:
                    print(f"{row.job:22} no verdict\n{printed}", flush=True)
                told[row.job] = answer or {"findings": []}
            tried = try_row(machine, row, told[row.job], folder)
            if tried is None:
                failed += 1
                continue
            gains.append(tried)
            if arguments.keep:
                answer_file = folder / f"{row.job}.{row.remedy}.gain.json"
                answer_file.write_text(json.dumps(asdict(tried)))
    print(score(gains), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
