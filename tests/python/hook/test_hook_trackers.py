"""`unstarve run --track`: the job's own tracker has our values, and the job's steps as before."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import json_schemas
import pytest
from command_line import environment, unstarve
from hook_jobs import HOOK

KEYS = {"unstarve/input_wait": 0.75, "unstarve/gpu0/utilization": 0.25}
TOLD = {"elapsed_s": 12.5, "values": KEYS, "sentence": "waits for data 75 %"}

# It logs until our values are there, at most for a minute, and then three steps more.
WANDB_JOB = """
import sys, time, torch, wandb
run = wandb.init(project="p", mode="offline", settings=wandb.Settings(x_disable_stats=True))
ends = time.monotonic() + 60
step = 0
while "unstarve/verdict" not in run.summary.keys() and time.monotonic() < ends:
    run.log({"loss": step})
    step += 1
    time.sleep(0.1)
for _ in range(3):
    run.log({"loss": step})
    step += 1
run.finish()
print(step)
"""


def job_environment(run_dir: Path, cwd: Path) -> dict[str, str]:
    """As `unstarve run --track` starts a job, whose watcher has written already."""
    run_dir.mkdir()
    (run_dir / "tracked.json").write_text(json.dumps(TOLD))
    path = os.pathsep.join([str(HOOK), environment()["PYTHONPATH"]])
    ours = {"UNSTARVE_RUN_DIR": str(run_dir), "UNSTARVE_TRACK": "1", "PYTHONPATH": path}
    return environment() | ours | {"WANDB_DIR": str(cwd), "WANDB_SILENT": "true"}


def log_records(data: bytes) -> Iterator[bytes]:
    """Of a file of W&B: a header, then LevelDB's log format, in blocks of 32 KiB."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        length = int.from_bytes(data[at + 4 : at + 6], "little")
        kind = data[at + 6]
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield whole
            whole = b""


def history_of(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What W&B stored: the rows, the summary."""
    protocol: Any = importlib.import_module("wandb.proto.wandb_internal_pb2")
    (stored,) = folder.glob("wandb/offline-run-*/*.wandb")
    rows: list[dict[str, Any]] = []
    summary: dict[str, Any] = {}
    for bytes_ in log_records(stored.read_bytes()):
        record = protocol.Record.FromString(bytes_)
        kind = record.WhichOneof("record_type")
        items = {"history": record.history.item, "summary": record.summary.update}.get(kind or "")
        if items is None:
            continue
        told = {"/".join(one.nested_key) or one.key: json.loads(one.value_json) for one in items}
        rows.append(told) if kind == "history" else summary.update(told)
    return rows, summary


def test_wandb_has_our_values_and_its_own_steps(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WANDB_JOB],
        env=job_environment(tmp_path / "run", tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows, summary = history_of(tmp_path)
    assert [row["loss"] for row in rows] == list(range(int(done.stdout)))
    assert [row["_step"] for row in rows] == list(range(len(rows)))
    (ours,) = [row for row in rows if "unstarve/input_wait" in row]
    assert ours.items() >= KEYS.items()
    assert summary["unstarve/verdict"] == TOLD["sentence"]


# Stands for trackers whose packages are large: each has the names that are asked for.
OTHERS_JOB = """
import sys, time, types, json
class Run:
    def __init__(self):
        self._next_step, self.rows = 0, []
        self._stop_flag = types.SimpleNamespace(is_set=lambda: False)
        self._ctx = types.SimpleNamespace(_global_step=-1)
    def log(self, values, step):
        self.rows.append((step, values))
sys.modules["swanlab"] = swanlab = types.ModuleType("swanlab")
mine = Run()
swanlab.has_run, swanlab.get_run = lambda: True, lambda: mine
import torch
from _unstarve_hook import recorder, trackers
theirs = Run()
trackers._trackio_runs.add(theirs)
ends = time.monotonic() + 60
time.sleep(2.5)  # a look before their first step: nothing
before = [list(mine.rows), list(theirs.rows)]
mine._ctx._global_step, theirs._next_step = 4, 5
told = json.load(open(sys.argv[1]))
while not (mine.rows and theirs.rows) and time.monotonic() < ends:
    open(sys.argv[1], "w").write(json.dumps(told))
    time.sleep(0.5)
print(json.dumps([before, mine.rows, theirs.rows, recorder.RECORDER._errors]))
"""


def test_trackers_with_steps_of_their_own_get_ours_at_the_latest(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", OTHERS_JOB, run / "tracked.json"],
        env=job_environment(run, tmp_path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    before, mine, theirs, errors = json.loads(done.stdout)
    assert before == [[], []]
    assert mine == theirs == [[4, KEYS]]
    assert errors == []


TRAINS = """
import os, sys, time, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ends = time.monotonic() + 60
while not os.path.exists(sys.argv[1]) and time.monotonic() < ends:
    model(torch.randn(8, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.01)
"""


def test_the_watcher_writes_what_is_logged(tmp_path: Path) -> None:
    tracked = tmp_path / "a/tracked.json"
    job = [sys.executable, "-c", TRAINS, str(tracked)]
    done = unstarve("run", "--track", "--out", str(tmp_path / "a"), "--", *job)
    assert done.returncode == 0, done.stderr
    told = json.loads(tracked.read_text())
    json_schemas.check_document(told)
    assert told["values"]["unstarve/step_s"] == pytest.approx(0.0105, rel=0.9)
    assert 0 < len(told["values"]) <= 20
    assert "steps" in told["sentence"]
