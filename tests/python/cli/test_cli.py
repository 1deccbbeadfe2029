"""The program as a user meets it: exit codes, output, signals, damaged input."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import leftovers
import pytest
from command_line import (
    EMULATED,
    TRACES,
    TRAINING_JOB,
    UNSTARVE,
    environment,
    unstarve,
)
from recorded import RUNS, report_of

SHARES = {
    "gpu_compute",
    "exposed_communication",
    "exposed_copy",
    "input_wait",
    "sync",
    "launch",
    "kernel_wait",
    "other",
}


def diagnosis_of(trace: Path) -> dict[str, Any]:
    done = unstarve("diagnose", "--json", str(trace))
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_help_names_every_command() -> None:
    done = unstarve("--help")
    assert done.returncode == 0
    commands = "demo run rehearse diagnose report pack unpack bench roofline doctor"
    for command in commands.split():
        assert command in done.stdout
        assert unstarve(command, "--help").returncode == 0


def test_wrong_usage_exits_2() -> None:
    assert unstarve().returncode == 2
    assert unstarve("no_such_command").returncode == 2
    assert unstarve("diagnose").returncode == 2
    assert unstarve("run").returncode == 2


@pytest.mark.parametrize("name", sorted(json.loads((TRACES / "expected.json").read_text())))
def test_diagnosis_of_a_trace_keeps_the_contract(name: str) -> None:
    expected = json.loads((TRACES / "expected.json").read_text())[name]
    found = diagnosis_of(TRACES / name)
    assert found["schema"] == "unstarve.diagnosis/1"
    assert found["input"] == {"kind": "kineto", "file": str(TRACES / name)}
    if expected["partition"] is None:
        assert set(found["partition"]) == {"absent"}
        return
    shares = found["partition"]
    assert set(shares) == SHARES
    assert sum(shares.values()) == pytest.approx(1, abs=1e-6)
    # The analysis compared with gives work that has no record to `other`.
    unrecorded = found["devices"][0]["edge_busy_ratio"]
    shares["gpu_compute"] -= unrecorded
    shares["other"] += unrecorded
    clear = expected["confidence"] == "clear"
    for share, (low, high) in expected["range"].items():
        strict = share in {"gpu_compute", "exposed_communication", "exposed_copy"}
        if clear or strict:
            slack = 0.02 if strict else 0.05
            assert low - slack <= shares[share] <= high + slack, share
    if clear:
        assert found["findings"][0]["cause"] == expected["top_cause"]
    assert found["steps"]["count"] == expected["steps"]["count"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cut.json", b'{"traceEvents": [{"ph": "X", "name": "a"', "byte"),
        ("other.json", b'{"a": 1}', "traceEvents"),
        ("empty.json", b"", "empty.json"),
        ("noise.json.gz", b"\x1f\x8b\x08" + bytes(range(200)), "noise.json.gz"),
    ],
)
def test_damaged_traces_exit_2_and_say_where(
    tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = unstarve("diagnose", "--json", str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert str(path) in done.stderr
    assert says in done.stderr


def test_missing_trace_exits_2(tmp_path: Path) -> None:
    done = unstarve("diagnose", str(tmp_path / "none.json"))
    assert done.returncode == 2
    assert "none.json" in done.stderr


def test_run_passes_on_output_and_exit_code(tmp_path: Path) -> None:
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    done = unstarve("run", "--out", str(tmp_path / "r"), "--", sys.executable, "-c", script)
    assert done.returncode == 7
    assert done.stdout == "out\n"
    assert done.stderr.startswith("err\n")


def test_run_passes_on_a_killing_signal(tmp_path: Path) -> None:
    script = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    done = unstarve("run", "--out", str(tmp_path / "r"), "--", sys.executable, "-c", script)
    assert done.returncode == 128 + signal.SIGKILL


def test_run_of_no_command_is_127(tmp_path: Path) -> None:
    done = unstarve("run", "--out", str(tmp_path / "r"), "--", "no-such-program-here")
    assert done.returncode == 127
    assert "no-such-program-here" in done.stderr


def test_run_diagnoses_a_live_job(tmp_path: Path) -> None:
    out, found_path = tmp_path / "r", tmp_path / "d.json"
    done = unstarve(
        *["run", "--out", str(out), "--json", str(found_path), *EMULATED],
        *["--", sys.executable, "-c", TRAINING_JOB],
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "trained\n"
    assert "emulated" in done.stderr
    found = json.loads(found_path.read_text())
    assert found["input"]["kind"] == "run"
    assert found["run_id"] == "r"
    assert sum(found["partition"].values()) == pytest.approx(1, abs=1e-6)
    assert found["findings"][0]["cause"] == "input_wait"
    # The job's data set is no folder of images, so the loader for those is not advised.
    advised = {r["id"] for f in found["findings"] for r in f["remedies"]}
    assert not {"unstarve_loader", "unstarve_cache", "unstarve_shards"} & advised
    assert found["steps"]["count"] == 12  # of 13: the first is warm-up
    assert "<html" in (out / "report.html").read_text()
    with sqlite3.connect(out / "run.sqlite") as store:
        assert store.execute("SELECT COUNT(*) FROM step").fetchone() == (13,)
        assert store.execute("SELECT cause FROM finding WHERE idx = 0").fetchone() == (
            "input_wait",
        )
    again = unstarve("report", str(out), "--json", "-")
    assert again.returncode == 0
    assert json.loads(again.stdout)["partition"] == found["partition"]


def test_the_slow_stage_of_our_own_loader_is_named() -> None:
    finding = report_of("our_loader")["findings"][0]
    assert (finding["cause"], finding["detail"]) == ("input_wait", "decode_cpu")
    (shares,) = [line for line in finding["evidence"] if line.startswith("unstarve's loader")]
    assert "(1 thread): decode: " in shares
    remedies = [remedy["id"] for remedy in finding["remedies"]]
    assert "unstarve_shards" in remedies
    assert "unstarve_loader" not in remedies
    store = f"file:{RUNS / 'our_loader'}/run.sqlite?mode=ro"
    with contextlib.closing(sqlite3.connect(store, uri=True)) as run:
        (ready,) = run.execute("SELECT count(ready_batches) FROM wait").fetchone()
        assert ready > 0
        images = "SELECT sum(amount) FROM stage WHERE stage = 1"
        assert 32 * 16 <= run.execute(images).fetchone()[0] <= 32 * 44


def test_ctrl_c_belongs_to_the_job(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    script = (
        "import pathlib, sys, time\n"
        "try:\n    print('ready', flush=True)\n    time.sleep(60)\n"
        f"except KeyboardInterrupt:\n    pathlib.Path({str(checkpoint)!r}).write_text('saved')\n"
        "    sys.exit(5)\n"
    )
    job = subprocess.Popen(
        [str(UNSTARVE), "run", "--out", str(tmp_path / "r"), "--", sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        text=True,
        start_new_session=True,
    )
    assert job.stdout is not None
    assert job.stdout.readline() == "ready\n"
    os.killpg(job.pid, signal.SIGINT)
    assert job.wait(timeout=60) == 5
    assert checkpoint.read_text() == "saved"


def test_killed_watcher_leaves_job_and_run(tmp_path: Path) -> None:
    out, done_file = tmp_path / "r", tmp_path / "done"
    script = TRAINING_JOB + (
        "\nimport os, pathlib\n"
        f"pathlib.Path({str(done_file)!r}).write_text(os.environ['UNSTARVE_EMULATED_GPU'])\n"
    )
    watcher = subprocess.Popen(
        [
            *[str(UNSTARVE), "run", "--out", str(out), *EMULATED],
            *["--", sys.executable, "-c", script],
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not list((out / "rings").glob("hook-*.ring")) and time.monotonic() < deadline:
        time.sleep(0.05)
    watcher.kill()
    watcher.wait()
    while not done_file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert done_file.exists(), "the job ended with its watcher"
    report = unstarve("report", str(out), "--json", "-")
    assert report.returncode == 0, report.stderr
    assert json.loads(report.stdout)["steps"]["count"] == 12
    # Its emulated machine stays until the next one is made.
    machine = Path(done_file.read_text()).parent
    while machine.exists() and time.monotonic() < deadline:
        leftovers.reap_orphans(frozenset())  # as the system's first process does
        unstarve("emulate", "--", "true")
        time.sleep(0.1)


def test_an_existing_run_is_not_overwritten(tmp_path: Path) -> None:
    out = str(tmp_path / "r")
    assert unstarve("run", "--out", out, "--", "true").returncode == 0
    before = (tmp_path / "r/run.sqlite").read_bytes()
    assert unstarve("run", "--out", out, "--", "true").returncode == 2
    assert (tmp_path / "r/run.sqlite").read_bytes() == before


def test_doctor_answers_in_json() -> None:
    done = unstarve("doctor", "--json")
    assert done.returncode == 0
    checks = {check["what"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["Python hook"]["works"]
    assert checks["CPUs"]["works"]


def test_predictions_that_were_tried_are_shown(tmp_path: Path) -> None:
    none = unstarve("report", "--predictions", str(tmp_path))
    assert none.returncode == 0
    assert "No prediction was tried" in none.stdout
    for number, speedup in enumerate((2.1, 3.0)):
        out = tmp_path / f"run-{number}"
        assert unstarve("run", "--out", str(out), "--", "true").returncode == 0
        with contextlib.closing(sqlite3.connect(out / "run.sqlite")) as store, store:
            held = int(speedup < 2.2)
            row = ("more_workers", 2.0, 1.8, 2.2, speedup, speedup, speedup, held)
            store.execute("INSERT INTO prediction VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            store.execute("INSERT INTO prediction VALUES ('pin_memory', 2, 1, 3, 0, 0, 0, NULL)")
    (tmp_path / "no-run").mkdir()
    (tmp_path / "no-run/run.sqlite").write_bytes(b"damaged")
    shown = unstarve("report", "--predictions", str(tmp_path))
    assert shown.returncode == 0, shown.stderr
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["more_workers", "2.00x", "[1.80..2.20]", "3.00x", "no", "run-1"] in rows
    assert ["more_workers", "2.00x", "[1.80..2.20]", "2.10x", "yes", "run-0"] in rows
    assert "pin_memory" not in shown.stdout
    assert unstarve("report", "--predictions", str(tmp_path / "nowhere")).returncode == 2
    assert "which run?" in unstarve("report").stderr
