"""`unstarve query`: SQL over a run and over a folder of runs."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, UNSTARVE, environment, unstarve
from recorded import RUNS, recorded

PAGE = ROOT / "docs/formats/query.md"
HOSTILE_NAME = "\x1b[2J\x9b31m\u202e"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("trained", "fed_gpu"):
        recorded(name, folder)
    return folder


def rows_of(where: Path, sql: str) -> list[dict[str, Any]]:
    done = unstarve("query", str(where), sql, "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def documented_views() -> dict[str, list[str]]:
    """The columns of each view, as the page lists them."""
    sections = re.split(r"^### `(\w+)`$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: re.findall(r"^\| `(\w+)` \|", text.split("\n## ")[0], re.MULTILINE)
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }


def test_the_views_have_the_documented_columns(runs: Path) -> None:
    views = documented_views()
    assert set(views) == {"runs", "steps", "samples", "findings", "trials"}
    of_run = {"steps", "samples", "findings", "trials"}
    of_folder = {"runs", "findings", "trials"}
    for where, names in ((runs / "fed_gpu", of_run), (runs, of_folder)):
        for name in names:
            done = unstarve("query", str(where), f"SELECT * FROM {name} LIMIT 0", "--csv")
            assert done.stdout.strip().split(",") == views[name], (where, name, done.stderr)


def test_the_documented_examples_are_answered(runs: Path) -> None:
    line = r"^    unstarve query (\w+) (['\"])(.*)\2$"
    examples = re.findall(line, PAGE.read_text(), re.MULTILINE)
    assert len(examples) >= 4
    for where, _, sql in examples:
        done = unstarve("query", where, sql, cwd=runs.parent)
        assert done.returncode == 0, (sql, done.stderr)


def test_the_views_say_what_the_store_holds(runs: Path) -> None:
    store = sqlite3.connect(runs / "fed_gpu/run.sqlite")
    (began_ns,) = store.execute("SELECT value FROM run WHERE key = 'started_ns'").fetchone()
    wanted = store.execute("SELECT idx, start_ns, end_ns FROM step ORDER BY rowid").fetchall()
    given = rows_of(runs / "fed_gpu", "SELECT step, began_s, duration_ms FROM steps")
    assert len(given) == len(wanted) > 0
    for row, (number, start_ns, end_ns) in zip(given, wanted, strict=True):
        assert row["step"] == number
        assert row["began_s"] == pytest.approx((start_ns - int(began_ns)) / 1e9)
        assert row["duration_ms"] == pytest.approx((end_ns - start_ns) / 1e6)
    (samples,) = store.execute("SELECT count(*) FROM sample").fetchone()
    assert rows_of(runs / "fed_gpu", "SELECT count(*) AS n FROM samples") == [{"n": samples}]
    both = rows_of(runs, "SELECT run, count(*) AS n FROM findings GROUP BY run ORDER BY run")
    assert [row["run"] for row in both] == ["fed_gpu", "trained"]
    assert both[0]["n"] == store.execute("SELECT count(*) FROM finding").fetchone()[0]


def test_the_outputs_hold_the_same_rows(runs: Path) -> None:
    sql = "SELECT run, state, duration_s, exit_signal, evidence FROM runs NATURAL JOIN findings"
    rows = rows_of(runs, sql)
    text = unstarve("query", str(runs), sql, "--csv").stdout
    from_csv = list(csv.DictReader(io.StringIO(text)))
    assert [row["run"] for row in from_csv] == [row["run"] for row in rows]
    assert [row["evidence"] for row in from_csv] == [row["evidence"] for row in rows]
    assert [float(row["duration_s"]) for row in from_csv] == [row["duration_s"] for row in rows]
    assert {row["exit_signal"] for row in from_csv} == {""}
    table = unstarve("query", str(runs), sql).stdout.splitlines()
    assert table[0].split() == ["run", "state", "duration_s", "exit_signal", "evidence"]
    assert len(table) == 2 + len(rows)


def test_what_is_left_out_is_said(runs: Path) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    cut = unstarve("query", str(runs), endless, "--csv")
    assert cut.returncode == 1
    assert len(cut.stdout.splitlines()) == 1 + 10_000
    assert "only the first 10000 rows" in cut.stderr
    asked = unstarve("query", str(runs), endless, "--csv", "--limit", "3")
    assert (asked.returncode, asked.stdout.split()) == (0, ["x", "1", "2", "3"])
    late = unstarve("query", str(runs), f"SELECT max(x) FROM ({endless})", "--timeout", "0.05")
    assert late.returncode == 1
    assert "--timeout" in late.stderr


def test_what_is_wrong_is_said_by_name(runs: Path, tmp_path: Path) -> None:
    run = runs / "trained"
    before = (run / "run.sqlite").read_bytes()
    for where, sql, wanted in (
        (run, f"ATTACH '{tmp_path}/x' AS y", "ATTACH"),
        (run, "SELECT load_extension('x')", "load_extension()"),
        (run, f"VACUUM INTO '{tmp_path}/x'", "only reads"),
        (run, "SELECT * FROM sqlite_master", "sqlite_master"),
        (run, "DELETE FROM step", "only reads"),
        (runs, "SELECT * FROM steps", "there are findings, runs, trials"),
        (runs, "SELECT nought FROM runs", "no such column: nought"),
        (tmp_path / "nowhere", "SELECT 1", "nowhere"),
    ):
        done = unstarve("query", str(where), sql)
        assert (done.returncode, done.stdout) == (2, ""), sql
        assert wanted in done.stderr, sql
    twice = unstarve("query", str(run), "SELECT 1 AS a, 2 AS a", "--json")
    assert twice.returncode == 2
    assert "'a'" in twice.stderr
    assert (run / "run.sqlite").read_bytes() == before
    assert sorted(path.name for path in run.iterdir()) == ["run.sqlite", "told.json"]
    assert not (tmp_path / "x").exists()


def shown_on_a_terminal(*arguments: str) -> bytes:
    ours, theirs = pty.openpty()
    try:
        env = {**environment(), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [UNSTARVE, *arguments], stdout=theirs, env=env, timeout=60, check=False
        )
        assert done.returncode == 0
        return os.read(ours, 65_536)
    finally:
        os.close(ours)
        os.close(theirs)


def test_no_control_of_a_name_reaches_the_terminal(runs: Path) -> None:
    store = sqlite3.connect(runs / "trained/run.sqlite")
    store.execute("UPDATE finding SET cause = ?", (HOSTILE_NAME,))
    store.commit()
    store.close()
    sql = f"SELECT cause, 1 AS '{HOSTILE_NAME}' FROM findings"
    for options in ([], ["--json"], ["--csv"]):
        for where in (runs, runs / "trained"):
            shown = shown_on_a_terminal("query", str(where), sql, *options)
            assert shown
            for control in ("\x1b", "\x9b", "\u202e"):
                assert control.encode() not in shown, (options, shown)
    piped = unstarve("query", str(runs / "trained"), "SELECT cause FROM findings", "--json")
    assert json.loads(piped.stdout)[0]["cause"] == HOSTILE_NAME
    wrong = unstarve("query", str(runs), f"SELECT '{HOSTILE_NAME}")
    assert wrong.returncode == 2
    assert "\x1b" not in wrong.stderr


def test_a_folder_that_was_asked_is_not_changed_but_for_its_index(runs: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        found = {}
        for path in sorted(runs.rglob("*")):
            status = path.stat()
            found[str(path.relative_to(runs))] = (status.st_size, status.st_mtime_ns)
        return found

    before = state()
    rows_of(runs, "SELECT * FROM runs")
    rows_of(runs / "trained", "SELECT * FROM steps")
    after = state()
    assert set(after) - set(before) == {".index.sqlite"}
    assert {name: after[name] for name in before} == before


def test_all_recordings_are_answered(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(RUNS, folder)
    names = {path.name for path in folder.iterdir()}
    rows = rows_of(folder, "SELECT run, state, steps, problem FROM runs")
    assert {row["run"] for row in rows} == names
    assert {row["state"] for row in rows} == {"ended"}
    assert {row["problem"] for row in rows} == {None}
