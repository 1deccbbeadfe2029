"""What is planted in a job of the zoo, in words that a verdict can be held against.

The scripts themselves say nothing of it, so that whoever reads them, the tool included, learns
nothing but what runs. A `cure` is the plant taken out of the script's text; what a step takes with
it, against what it took, is what the plant costs. That is measured by the clock alone
(`run_zoo.py --measure-only`). A cure may also make a batch larger and count it as so many steps:
where a step takes no longer, the GPU was waiting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
JOBS = FOLDER / "jobs"
Cure = tuple[tuple[str, str], ...]
# The partition calls time in which the host has launched nothing `launch`, whatever it did instead;
# the detail tells work of the host from many launches.
HOST = ("launch",)


@dataclass(frozen=True)
class Plant:
    """One reason why the GPU idles. Right is one of `causes`, and one of the details, or the line
    that holds `line`, or a word of `says` in what is said about it."""

    causes: tuple[str, ...]
    details: tuple[str, ...] = ()
    line: str = ""
    says: tuple[str, ...] = ()
    cure: Cure = ()
    # What kind of change the cure is, where an expert of the field would make it so.
    change: str = ""


@dataclass(frozen=True)
class Job:
    """A script and its plants; a healthy one has none, and `cure` is what could be better in it."""

    name: str
    plants: tuple[Plant, ...] = ()
    cure: Cure = ()
    gpus: int = 1
    # Processes that keep a CPU each busy beside the job.
    neighbours: int = 0

    @property
    def script(self) -> Path:
        return JOBS / f"{self.name}.py"

    def line_of(self, plant: Plant) -> int:
        """The number of the line that the plant is in; 0 where it has none."""
        lines = self.script.read_text().splitlines()
        found = [number for number, line in enumerate(lines, 1) if plant.line in line]
        if not plant.line:
            return 0
        if len(found) != 1:
            raise ValueError(f"{self.name}: {plant.line!r} is in {len(found)} lines")
        return found[0]


def cured(text: str, cure: Cure) -> str:
    """A script without its plant."""
    for old, new in cure:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} is {text.count(old)} times in the script")
        text = text.replace(old, new)
    return text


def one_batch(loop: str) -> Cure:
    """The cure of any loader: its first batch again and again. `loop` is the loop's head."""
    head, loader = loop.removesuffix(":").rsplit(" in ", 1)
    again = f"[next(iter({loader}))] * 100_000"
    if numbered := re.fullmatch(r"enumerate\((.+?)((?:, 1)?)\)", loader):
        again = f"enumerate([next(iter({numbered[1]}))] * 100_000{numbered[2]})"
    return ((loop, f"{head} in {again}:"),)


def in_memory(assignment: str) -> Cure:
    """The cure of slow samples alone: 64 of them are made before the training, for all of it.
    `assignment` begins the statement that makes the loader of `dataset`."""
    indent = assignment[: len(assignment) - len(assignment.lstrip())]
    kept = f"{indent}dataset = [dataset[i % len(dataset)] for i in range(64)] * 100\n"
    return ((assignment, kept + assignment),)
