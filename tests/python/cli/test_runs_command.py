"""`unstarve runs`: what lies in a folder of runs; tags, notes, removal."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, UNSTARVE, environment, unstarve
from recorded import recorded

FORMER = ROOT / "tests/data/former_runs"
INDEX = ".index.sqlite"


def listed(folder: Path, *options: str) -> list[dict[str, Any]]:
    done = unstarve("runs", "list", "--json", *options, str(folder))
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["runs"]
    return found


def names(folder: Path, *options: str) -> list[str]:
    return [run["name"] for run in listed(folder, *options)]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("trained", "starved", "raised", "ended_by_signal"):
        recorded(name, folder)
    return folder


def test_runs_are_listed_the_newest_first(runs: Path) -> None:
    assert names(runs) == ["starved", "raised", "ended_by_signal", "trained"]
    assert names(runs, "--limit", "2") == ["starved", "raised"]
    assert names(runs, "--failed") == ["raised", "ended_by_signal"]
    text = unstarve("runs", cwd=runs.parent).stdout.splitlines()
    assert len(text) == 6
    began = r"2026-\d\d-\d\d \d\d:\d\d"
    assert re.match(rf"starved +{began}  5\.00 s  exit 0 .*61 % waits for data", text[2])
    assert "exit 1" in text[3] and "SIGSEGV" in text[4]
    assert "python trains.py 0" in text[5]


def test_a_run_of_which_all_is_known_is_as_the_schema_says(tmp_path: Path) -> None:
    """unstarve() holds what is written against it."""
    with sqlite3.connect(recorded("images", tmp_path / "runs") / "run.sqlite") as store:
        facts = (("stage", "train"), ("attached_pid", "7"), ("exit_signal", "9"))
        store.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", facts)
        store.execute(
            "UPDATE prediction SET measured_speedup = 2, measured_low = 1.9, measured_high = 2.1, "
            "held = 1"
        )
    (run,) = listed(tmp_path / "runs")
    assert (run["stage"], run["attached_pid"], run["exit_signal"]) == ("train", 7, 9)
    assert all(run[name] > 0 for name in ("step_us", "samples_per_s", "au_ratio", "gpu_idle_ratio"))
    assert {(one["measured_speedup"], one["held"]) for one in run["predictions"]} == {(2, True)}


def test_the_documented_keys_are_those_there_are(runs: Path) -> None:
    page = (ROOT / "docs/formats/runs.md").read_text()
    table = page.split("Each run has these keys:")[1].split("\n## ")[0]
    documented = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", table, re.MULTILINE)
    keys = [key for row in documented for key in re.findall(r"`([a-z_]+)`", row)]
    assert keys == list(listed(runs)[0])


def test_a_run_is_shown_by_its_name_its_path_and_as_the_last(runs: Path) -> None:
    shown = unstarve("runs", "show", "starved", cwd=runs.parent)
    assert shown.returncode == 0, shown.stderr
    assert "61 % waiting for the data loader" in shown.stdout
    assert "unstarve report runs/starved" in shown.stderr
    for name in ("runs/starved", "last", "runs/starved/run.sqlite"):
        again = unstarve("runs", "show", name, "--json", cwd=runs.parent)
        assert json.loads(again.stdout)["runs"][0]["run_dir"].endswith("runs/starved"), name
    none = unstarve("runs", "show", "no-such", cwd=runs.parent)
    assert none.returncode == 2
    assert "no-such" in none.stderr and "unstarve runs list" in none.stderr


def test_wrong_words_are_answered_with_the_nearest(runs: Path) -> None:
    for words, wanted in (
        (("lst",), "did you mean 'list'?"),
        (("list", "--taag"), "did you mean '--tag'?"),
    ):
        done = unstarve("runs", *words, cwd=runs.parent)
        assert done.returncode == 2
        assert wanted in done.stderr


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = unstarve("runs", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no folder runs" in done.stderr and "unstarve run --" in done.stderr
    (tmp_path / "runs").mkdir()
    empty = unstarve("runs", cwd=tmp_path)
    assert empty.returncode == 0
    assert "runs holds no run" in empty.stderr


def test_tags_and_notes_lie_in_the_run(runs: Path) -> None:
    assert unstarve("runs", "tag", str(runs / "trained"), "good", "lr=1e-3").returncode == 0
    assert unstarve("runs", "note", str(runs / "trained"), "the first one").returncode == 0
    assert names(runs, "--tag", "good") == ["trained"]
    moved = runs.parent / "elsewhere"
    moved.mkdir()
    shutil.move(runs / "trained", moved)
    run = listed(moved)[0]
    assert (run["tags"], run["note"]) == (["good", "lr=1e-3"], "the first one")
    assert unstarve("runs", "tag", str(moved / "trained"), "good", "--remove").returncode == 0
    assert unstarve("runs", "note", str(moved / "trained"), "").returncode == 0
    run = listed(moved)[0]
    assert (run["tags"], run["note"]) == (["lr=1e-3"], None)
    wrong = unstarve("runs", "tag", str(moved / "trained"), "fine", "../x")
    assert wrong.returncode == 2
    assert "'../x' is no tag" in wrong.stderr
    assert listed(moved)[0]["tags"] == ["lr=1e-3"]


def test_a_run_that_goes_on_and_one_that_was_killed(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    run = runs / "long"
    job = subprocess.Popen(
        [UNSTARVE, "run", "--out", run, "--", sys.executable, "-c", "input()"],
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert job.stdin is not None
    try:
        while not runs.exists() or not listed(runs) or listed(runs)[0]["state"] == "unreadable":
            assert job.poll() is None
        assert listed(runs)[0]["state"] == "running"
        refused = unstarve("runs", "rm", str(run), "--yes")
        assert refused.returncode == 2
        assert "goes on" in refused.stderr
        assert (run / "run.sqlite").exists()
        job.send_signal(signal.SIGKILL)
        job.wait(60)
        assert listed(runs)[0]["state"] == "killed"
        assert names(runs, "--failed") == ["long"]
        query = unstarve("query", str(run), "SELECT value FROM run WHERE key = 'state'", "--csv")
        assert query.stdout.splitlines() == ["value", "running"]
    finally:
        job.kill()
        job.stdin.close()  # the job itself ends by it
        job.wait(60)


def test_only_what_unstarve_wrote_is_removed(runs: Path) -> None:
    run = runs / "trained"
    (run / "told.json").unlink()
    (run / "checkpoint.pt").write_text("mine")
    refused = unstarve("runs", "rm", str(run))
    assert refused.returncode == 2
    assert "add --yes" in refused.stderr and "checkpoint.pt" in refused.stderr
    assert (run / "run.sqlite").exists()
    done = unstarve("runs", "rm", str(run), str(runs / "raised"), "--yes")
    assert done.returncode == 0, done.stderr
    assert "removed 2 runs" in done.stderr
    assert [path.name for path in run.iterdir()] == ["checkpoint.pt"]
    assert names(runs) == ["starved", "ended_by_signal"]
    for what, why in ((run, "is neither a run"), (runs, "is a folder of runs")):
        again = unstarve("runs", "rm", str(what), "--yes")
        assert again.returncode == 2
        assert why in again.stderr
    assert (run / "checkpoint.pt").exists()
    assert names(runs) == ["starved", "ended_by_signal"]


def test_old_runs_are_pruned_but_tagged_ones(runs: Path) -> None:
    assert unstarve("runs", "prune", str(runs)).returncode == 2
    assert unstarve("runs", "tag", str(runs / "trained"), "kept").returncode == 0
    sizes = sum(run["size_bytes"] for run in listed(runs))
    plan = unstarve("runs", "prune", str(runs), "--max-size", str(sizes - 1), "--dry-run")
    assert plan.returncode == 0, plan.stderr
    assert "ended_by_signal: " in plan.stderr and "1 run would go" in plan.stderr
    assert len(names(runs)) == 4
    done = unstarve("runs", "prune", str(runs), "--keep-days", "0.001", "--yes")
    assert done.returncode == 0, done.stderr
    assert names(runs) == ["trained"]


def test_runs_of_former_versions_open(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FORMER, tmp_path / "runs"))
    for run in listed(folder):
        assert run["problem"] is None
        assert (run["steps"], run["exit_code"]) == (20, 0)
        assert run["verdict"]["cause"] == "input_wait"
        assert run["au_ratio"] is None
        assert unstarve("report", str(folder / run["name"])).returncode == 0
        steps = unstarve("query", str(folder / run["name"]), "SELECT * FROM steps", "--json")
        assert len(json.loads(steps.stdout)) == 20


def test_runs_of_newer_versions_are_refused_by_name(runs: Path) -> None:
    store = sqlite3.connect(runs / "trained/run.sqlite")
    store.execute("UPDATE run SET value = 'unstarve.run/2' WHERE key = 'schema'")
    store.commit()
    store.close()
    run = next(run for run in listed(runs) if run["name"] == "trained")
    assert run["state"] == "unreadable"
    assert "unstarve.run/2" in run["problem"] and "trained" in run["problem"]
    for command in (("runs", "rm", "--yes"), ("report",)):
        done = unstarve(*command, str(runs / "trained"))
        assert done.returncode != 0
        assert "unstarve.run/2" in done.stderr
    assert (runs / "trained/run.sqlite").exists()


def test_no_control_of_a_name_reaches_the_terminal(runs: Path) -> None:
    evil = "\x1b[2J\x9b31m\u202etxt"
    (runs / "trained").rename(runs / f"a{evil}")
    store = sqlite3.connect(runs / f"a{evil}/run.sqlite")
    store.execute("UPDATE run SET value = ? WHERE key = 'command'", (json.dumps([evil]),))
    store.execute("UPDATE finding SET cause = ?", (evil,))
    store.commit()
    store.close()
    (runs / f"a{evil}/note.txt").write_text(evil)
    for command in (
        ("list", str(runs)),
        ("list", "--json", str(runs)),
        ("show", str(runs / f"a{evil}")),
        ("note", str(runs / f"a{evil}"), evil),
    ):
        done = unstarve("runs", *command)
        assert done.returncode == 0
        for control in ("\x1b", "\x9b", "\u202e"):
            assert control not in done.stdout + done.stderr, command


def write_runs(folder: Path, name: str, ended: list[str], stop: threading.Event) -> None:
    """Copies runs and tags them; each that was whole goes into `ended`."""
    source = ROOT / "tests/data/runs/trained/run.sqlite"
    for number in range(1_000):
        if stop.is_set():
            return
        run = folder / f"{name}_{number}"
        run.mkdir()
        shutil.copyfile(source, run / "run.sqlite")
        if unstarve("runs", "tag", str(run), name).returncode == 0:
            ended.append(run.name)


def test_writers_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    """Eight processes list, and so write the index, and are killed while runs are added."""
    rng = random.Random(5)
    runs = tmp_path / "runs"
    runs.mkdir()
    recorded("starved", runs)
    stop = threading.Event()
    ended: list[str] = []
    writers = [
        threading.Thread(target=write_runs, args=(runs, f"w{i}", ended, stop)) for i in range(2)
    ]
    for writer in writers:
        writer.start()
    killed = 0
    try:
        for _ in range(25):
            listers = [
                subprocess.Popen(
                    [UNSTARVE, "runs", "list", str(runs)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                for _ in range(8)
            ]
            # When one that is drawn has ended, the others are anywhere in their work.
            listers[rng.randrange(len(listers))].wait(60)
            for lister in listers:
                if rng.random() < 0.7:
                    lister.kill()
            killed += sum(lister.wait(60) == -signal.SIGKILL for lister in listers)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert killed > 0
    assert len(ended) >= 2
    found = {run["name"]: run["tags"] for run in listed(runs)}
    assert set(ended) | {"starved"} <= set(found)
    assert all(found[name] == [name.split("_")[0]] for name in ended)
    # What killed writers left is no run, and the index is whole.
    assert sqlite3.connect(runs / INDEX).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_tags_of_many_at_once_all_stay(runs: Path) -> None:
    run = str(runs / "trained")
    taggers = [
        subprocess.Popen(
            [UNSTARVE, "runs", "tag", run, f"t{i}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for i in range(16)
    ]
    assert [tagger.wait(60) for tagger in taggers] == [0] * 16
    assert set(listed(runs, "--tag", "t0")[0]["tags"]) == {f"t{i}" for i in range(16)}


def test_an_index_of_no_use_is_made_anew(runs: Path) -> None:
    whole = listed(runs)
    for damage in (b"", b"no store at all", os.urandom(50_000)):
        (runs / INDEX).write_bytes(damage)
        assert listed(runs) == whole
        assert (runs / INDEX).read_bytes() != damage
    (runs / INDEX).unlink()
    (runs / INDEX).symlink_to(runs / "nowhere/index")
    assert listed(runs) == whole
