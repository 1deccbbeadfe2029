"""`unstarve export`: a run's samples, steps and verdict, for other programs."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from command_line import UNSTARVE, environment, unstarve
from recorded import recorded, report_of


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def of_kind(lines: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == event]


def test_a_recorded_run_is_handed_over_whole(tmp_path: Path) -> None:
    run = recorded("starved", tmp_path)
    done = unstarve("export", str(run))
    assert done.returncode == 0, done.stderr
    lines = lines_of(done.stdout)
    assert [lines[0]["event"], lines[-2]["event"], lines[-1]["event"]] == ["run", "end", "verdict"]
    store = sqlite3.connect(run / "run.sqlite")
    (samples,) = store.execute("SELECT count(*) FROM sample").fetchone()
    (steps,) = store.execute("SELECT count(*) FROM step").fetchone()
    assert len(of_kind(lines, "sample")) == samples > 0
    assert len(of_kind(lines, "step")) == steps > 0
    wanted = store.execute(
        "SELECT name, subject, value FROM sample JOIN metric ON id = metric_id "
        "ORDER BY sample.rowid"
    ).fetchall()
    given = [(line["metric"], line["subject"], line["value"]) for line in of_kind(lines, "sample")]
    assert given == wanted
    assert all(("absent" in line) == (line["value"] is None) for line in of_kind(lines, "sample"))
    assert lines[-1]["diagnosis"]["verdict"] == report_of("starved")["verdict"]


def test_into_a_file(tmp_path: Path) -> None:
    run = recorded("starved", tmp_path)
    into = tmp_path / "lines.jsonl"
    done = unstarve("export", "--as", "jsonl", "--out", str(into), str(run))
    assert (done.returncode, done.stdout) == (0, "")
    assert into.read_text() == unstarve("export", str(run)).stdout


def test_what_cannot_be_done_leaves_nothing(tmp_path: Path) -> None:
    into = tmp_path / "lines.jsonl"
    done = unstarve("export", "--out", str(into), str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert not into.exists()
    done = unstarve("export", "--as", "no-such-kind", str(recorded("starved", tmp_path)))
    assert done.returncode == 2
    assert "there are: " in done.stderr and "jsonl" in done.stderr
    full = unstarve("export", "--out", "/dev/full", str(tmp_path / "starved"))
    assert full.returncode == 1
    assert "cannot write /dev/full" in full.stderr


def test_a_run_that_goes_on_is_followed_to_its_end(tmp_path: Path) -> None:
    """What was handed over while the job ran is as much as is in the store behind it."""
    run = tmp_path / "run"
    job = subprocess.Popen(
        [UNSTARVE, "run", "--out", run, "--", sys.executable, "-c", "import time; time.sleep(4)"],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (run / "run.sqlite").exists():
            assert job.poll() is None
            time.sleep(0.05)
        follower = subprocess.Popen(
            [UNSTARVE, "export", "--follow", run], stdout=subprocess.PIPE, text=True
        )
        assert follower.stdout is not None
        first = json.loads(follower.stdout.readline())
        assert first["event"] == "run"
        assert follower.stdout.readline()  # a sample, while the job runs
        assert job.poll() is None
        rest = follower.stdout.read()
        follower.wait(60)
    finally:
        job.wait(60)
    assert follower.returncode == 0
    lines = lines_of(rest)
    assert lines[-1]["event"] == "verdict"
    assert of_kind(lines, "end")[0]["exit_code"] == 0
    store = sqlite3.connect(run / "run.sqlite")
    (samples,) = store.execute("SELECT count(*) FROM sample").fetchone()
    assert len(of_kind(lines, "sample")) + 1 == samples


def test_a_reader_that_goes_away_ends_it(tmp_path: Path) -> None:
    run = recorded("starved", tmp_path)
    shell = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {UNSTARVE} export {run} | head -n 1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(shell.stdout)["event"] == "run"
    assert "terminate" not in shell.stderr
