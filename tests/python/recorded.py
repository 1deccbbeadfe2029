"""Runs that were recorded once (tests/recordings), for tests of what is said of a run.

A report keeps its findings in the run's store, so each reader gets a copy.
"""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from command_line import ROOT, environment, unstarve

RUNS = ROOT / "tests/data/runs"
JOBS = ROOT / "tests/recordings/jobs"


def recorded(name: str, folder: Path) -> Path:
    """A copy of the run `name` in `folder`."""
    return Path(shutil.copytree(RUNS / name, folder / name))


@contextmanager
def _copy(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield recorded(name, Path(folder))


@functools.cache
def text_of(name: str, *options: str, columns: int = 80, command: str = "report") -> str:
    """What `unstarve report OPTIONS` prints of a run, without notes."""
    env = {**environment(), "COLUMNS": str(columns)}
    with _copy(name) as run:
        done = unstarve(command, *options, str(run), env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines_of(name: str, *options: str) -> list[str]:
    return [line for line in text_of(name, *options).splitlines() if line]


@functools.cache
def report_of(name: str) -> dict[str, Any]:
    """What `unstarve report --json -` says of a run; nobody may change it."""
    with _copy(name) as run:
        done = unstarve("report", "--json", "-", str(run))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def line_of(job: str, marker: str) -> int:
    """Where a recorded job's script has these words."""
    code = (JOBS / job).read_text()
    return 1 + code[: code.index(marker)].count("\n")


def remedies_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {remedy["id"]: remedy for f in found["findings"] for remedy in f["remedies"]}
