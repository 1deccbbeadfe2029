"""`unstarve run --track` with the trackers themselves: what their own readers find afterwards."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import json_schemas
import pytest
from command_line import UNSTARVE, unstarve
from tracked_jobs import (
    BATCH,
    TRACKERS,
    Stored,
    Tracker,
    environment_in,
    read_tracked,
    script_of,
    stored_in,
)

PAUSE_S = 0.02
FOR_EVER = -1
WINDOW_S = 10  # over which the watcher's values are (docs/formats/top.md)


@dataclass(frozen=True)
class Tracked:
    """A job that went on until its tracker had our values."""

    run: Path
    steps: int
    stored: Stored
    written: list[dict[str, Any]]  # all that the watcher wrote for the tracker

    @property
    def logged(self) -> list[dict[str, float]]:
        """Our rows, in order."""
        return rows_of(self.stored)

    def told_with(self, values: dict[str, float]) -> dict[str, Any]:
        (told,) = [told for told in self.written if told["values"] == values]
        return told


def rows_of(stored: Stored) -> list[dict[str, float]]:
    """Ours; of one that is being written not all points may be there."""
    keys = list(stored.ours)
    rows = zip(*stored.ours.values(), strict=False)
    return [{key: value for key, (_, value) in zip(keys, row, strict=True)} for row in rows]


def settled(run: Path, told: dict[str, Any]) -> bool:
    """Whether values are of steps that all lie behind the first, which the job's start is a part
    of, though the watcher reads them some time after they ended."""
    (first,) = asked(
        run,
        "SELECT (end_ns - (SELECT value FROM run WHERE key = 'started_ns')) / 1e9 AS ended_s "
        "FROM step WHERE idx = 0",
    )
    since_s: float = told["elapsed_s"] - first["ended_s"]
    return since_s > WINDOW_S + 2


def has(folder: Path, tracker: Tracker, run: Path, told: dict[str, Any]) -> bool:
    """Whether the tracker has values that can be compared with the store."""
    return settled(run, told) and told["values"] in rows_of(stored_in(folder, tracker))


def command(tracker: Tracker, ends: Path, steps: int, pause_s: float) -> list[str]:
    return [sys.executable, "-c", script_of(tracker), str(ends), str(steps), str(pause_s)]


def tracked(folder: Path, tracker: Tracker) -> Tracked:
    ends, run = folder / "ends", folder / "run"
    written: list[dict[str, Any]] = []

    def look() -> None:
        told = read_tracked(run)
        if told is not None and told not in written:
            written.append(told)

    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        job = subprocess.Popen(
            [
                *[str(UNSTARVE), "run", "--track", "--no-live", "--out", str(run), "--"],
                *command(tracker, ends, FOR_EVER, PAUSE_S),
            ],
            cwd=folder,
            env=environment_in(folder),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        try:
            while job.poll() is None:
                look()
                if written and not ends.exists() and has(folder, tracker, run, written[-1]):
                    ends.touch()
                time.sleep(0.05)
        finally:
            ends.touch()
            job.wait()
    look()
    assert job.returncode == 0, (folder / "err").read_text()
    (made,) = re.findall(r"^made (\d+)$", (folder / "out").read_text(), re.MULTILINE)
    return Tracked(run, int(made), stored_in(folder, tracker), written)


def asked(run: Path, query: str) -> list[dict[str, Any]]:
    """Rows of the run's own store."""
    done = unstarve("query", str(run), query, "--json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def assert_it_has_what_was_written(found: Tracked) -> None:
    keys = {"input_wait", "blocked", "step_s", "samples_per_s", "cpu_cores", "resident_bytes"}
    assert found.stored.ours.keys() == {f"unstarve/{key}" for key in keys}
    for told in found.written:
        json_schemas.check_document(told)
    logged = found.logged
    assert 1 <= len(logged) <= len(found.written)
    assert logged == [told["values"] for told in found.written][: len(logged)]


def assert_ours_are_at_the_steps_that_are_promised(tracker: Tracker, found: Tracked) -> None:
    """docs/exporting.md: of MLflow the second, of the others the latest step of the job's."""
    (steps,) = {tuple(step for step, _ in points) for points in found.stored.ours.values()}
    if tracker is TRACKERS["MLflow"]:
        wanted = [int(found.told_with(values)["elapsed_s"]) for values in found.logged]
        assert list(steps) == wanted
        sentences = [told["sentence"] for told in found.written]
        assert found.stored.tags["unstarve.verdict"] in sentences
    else:
        assert all(0 <= step < found.steps for step in steps)
        assert sorted(set(steps)) == list(steps)


def assert_the_values_are_of_the_run(found: Tracked) -> None:
    (count,) = asked(found.run, "SELECT count(*) AS steps FROM steps")
    assert count["steps"] == found.steps
    compared = 0
    for values in found.logged:
        made = values["unstarve/step_s"] * values["unstarve/samples_per_s"]
        assert made == pytest.approx(BATCH, rel=1e-6)
        assert values["unstarve/blocked"] == 0
        for metric in ("cpu_cores", "resident_bytes"):
            (seen,) = asked(
                found.run,
                "SELECT min(value) AS least, max(value) AS most FROM samples "
                f"WHERE metric = 'job.{metric}' AND value IS NOT NULL",
            )
            assert seen["least"] <= values[f"unstarve/{metric}"] <= seen["most"]
        told = found.told_with(values)
        if settled(found.run, told):
            step_s, waited_s = stored_means(found.run, told["elapsed_s"])
            assert values["unstarve/step_s"] == pytest.approx(step_s, rel=0.25)
            assert values["unstarve/input_wait"] == pytest.approx(waited_s / step_s, rel=0.25)
            compared += 1
    assert compared > 0


def stored_means(run: Path, elapsed_s: float) -> tuple[float, float]:
    """Of the steps that ended in the ten seconds before: their time, and that of their waits."""
    (began,) = asked(run, "SELECT value FROM run WHERE key = 'started_ns'")
    until_ns = int(began["value"]) + int(1e9 * elapsed_s)
    within = f"end_ns BETWEEN {until_ns - WINDOW_S * 10**9} AND {until_ns}"
    means = [
        asked(run, f"SELECT avg(end_ns - start_ns) / 1e9 AS mean_s FROM {table} WHERE {within}")
        for table in ("step", "wait")
    ]
    step_s, waited_s = (row["mean_s"] for (row,) in means)
    return step_s, waited_s


def assert_the_job_logs_as_without_us(tracker: Tracker, found: Tracked, folder: Path) -> None:
    job = command(tracker, folder / "never", found.steps, 0)
    done = subprocess.run(job, cwd=folder, env=environment_in(folder), capture_output=True)
    assert done.returncode == 0, done.stderr
    alone = stored_in(folder, tracker)
    assert len(alone.points["loss"]) == found.steps
    assert found.stored.own == alone.points
    # One run, which the job itself has ended.
    assert found.stored.ended_well == alone.ended_well == [True]
    assert found.stored.tags.keys() - alone.tags.keys() <= {"unstarve.verdict"}


def assert_nothing_went_wrong_in_the_job(found: Tracked) -> None:
    (row,) = asked(found.run, "SELECT text FROM process")
    assert json.loads(row["text"])["hook_errors"] == []


@pytest.mark.parametrize("name", TRACKERS)
def test_a_tracker_has_our_values_beside_the_jobs(name: str, tmp_path: Path) -> None:
    with_ours, alone = tmp_path / "tracked", tmp_path / "alone"
    with_ours.mkdir()
    alone.mkdir()
    found = tracked(with_ours, TRACKERS[name])
    assert_it_has_what_was_written(found)
    assert_ours_are_at_the_steps_that_are_promised(TRACKERS[name], found)
    assert_the_values_are_of_the_run(found)
    assert_the_job_logs_as_without_us(TRACKERS[name], found, alone)
    assert_nothing_went_wrong_in_the_job(found)
