"""Runs and searches on emulated GPUs that were recorded once (tests/recordings/emulated.py)."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from emulation import PYTHON, ROOT, unstarve

RUNS = ROOT / "tests/data/runs"
SEARCHES = ROOT / "tests/data/searches"
JOBS = ROOT / "tests/recordings/jobs"


def recorded(name: str, folder: Path) -> Path:
    """A copy of the run `name` in `folder`: a report writes into the run's store."""
    return Path(shutil.copytree(RUNS / name, folder / name))


@functools.cache
def report_of(name: str) -> dict[str, Any]:
    """What `unstarve report --json -` says of a run; nobody may change it."""
    with tempfile.TemporaryDirectory() as folder:
        done = unstarve("report", "--json", "-", str(recorded(name, Path(folder))))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def line_of(job: str, words: str) -> str:
    """Where a recorded job's script has this line: "FILE:NUMBER"."""
    return f"{job}:{(JOBS / job).read_text().splitlines().index(words) + 1}"


def watched(
    folder: Path,
    job: str,
    *arguments: str,
    options: tuple[str, ...] = (),
    launcher: tuple[str, ...] = (),
    exit_code: int = 0,
) -> tuple[dict[str, Any], str]:
    """The diagnosis of a recorded job that runs now, and what is said; its run is `folder`/run."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    words = ["--emulate", "a100", *options, "--out", str(folder / "run")]
    words += ["--json", str(folder / "told.json"), "--", PYTHON, *launcher]
    done = unstarve("run", *words, str(JOBS / job), *arguments)
    assert done.returncode == exit_code, f"{done.stdout}\n{done.stderr}"
    told: dict[str, Any] = json.loads((folder / "told.json").read_text())
    return told, " ".join(done.stderr.split())
