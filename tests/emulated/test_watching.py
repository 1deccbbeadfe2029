"""What unstarve itself sees of jobs on emulated GPUs: rings, samples, diagnosis."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve
from recorded_runs import line_of, report_of, watched

TRAIN = """
import sys, time, torch
gpu, slow_s = int(sys.argv[1]), float(sys.argv[2])
torch.cuda.set_device(gpu)
class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 240
    def __getitem__(self, index):
        time.sleep(slow_s)
        return torch.zeros(4096)
model = torch.nn.Linear(4096, 4096).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(Images(), 8, pin_memory=True):
    for _ in range(2):
        output = model(batch.cuda(non_blocking=True).repeat(512, 1))
    optimizer.zero_grad()
    output.sum().backward()
    optimizer.step()
torch.cuda.synchronize()
"""

ALL = """
import subprocess, sys
train = sys.argv[1]
jobs = [subprocess.Popen([sys.executable, train, gpu, slow]) for gpu, slow in
        (arguments.split() for arguments in sys.argv[2:])]
sys.exit(max(job.wait() for job in jobs))
"""


Trained = tuple[dict[str, Any], Path]


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """One training on the first GPU, and two on the second, whose data comes late: the diagnosis
    of them all, and their run."""
    folder = tmp_path_factory.mktemp("trainings")
    (folder / "train.py").write_text(TRAIN)
    (folder / "all.py").write_text(ALL)
    out, diagnosis = folder / "run", folder / "diagnosis.json"
    options = ["--emulate", "a100", "--gpus", "2", "--out", out, "--json", diagnosis]
    job = [PYTHON, folder / "all.py", folder / "train.py", "0 0.0", "1 0.02", "1 0.02"]
    done = unstarve("run", *map(str, options), "--", *map(str, job))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    answers: dict[str, Any] = json.loads(diagnosis.read_text())
    return answers, out


@contextmanager
def store_of(out: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(out / "run.sqlite")) as store:
        yield store


def mean_of(run: sqlite3.Connection, subject: str, metric: str) -> float:
    rows = run.execute(
        "select avg(value) from sample join metric on metric.id = sample.metric_id"
        " where subject = ? and name = ?",
        (subject, metric),
    )
    return float(next(rows)[0])


def test_two_gpus_are_kept_apart(trainings: Trained) -> None:
    diagnosis, out = trainings
    fast, slow = diagnosis["devices"]
    assert [fast["index"], slow["index"]] == [0, 1]
    assert fast["emulated"] is True
    # Only the second GPU idles for data.
    waits = [device["partition"]["input_wait"] for device in (fast, slow)]
    assert waits[1] > 0.5
    assert waits[0] < waits[1] - 0.2
    assert [device["partition"]["gpu_compute"] > 0 for device in (fast, slow)] == [True, True]
    with store_of(out) as run:
        assert list(run.execute("select idx, emulated from device")) == [(0, 1), (1, 1)]
        for subject in ("gpu0", "gpu1"):
            assert mean_of(run, subject, "gpu.memory_used_bytes") > 1 << 20
            assert mean_of(run, subject, "gpu.power_w") > 55


def test_two_processes_share_a_gpu(trainings: Trained) -> None:
    _, out = trainings
    with store_of(out) as run:
        select = "select file, lost, damaged from ring where file like 'cupti-%'"
        rings = list(run.execute(select))
    assert len(rings) == 3
    assert {row[1:] for row in rings} == {(0, 0)}
    # All was read: rings and the names beside them are gone.
    assert list((out / "rings").iterdir()) == []
    again = unstarve("diagnose", "--json", str(out))
    assert again.returncode == 0, again.stderr
    diagnosis = json.loads(again.stdout)
    for device in diagnosis["devices"]:
        assert 0 < device["gpu_busy_ratio"] <= 1
    # One copy to the device for each batch of each, from page-locked memory.
    assert diagnosis["copies"]["h2d_count"] >= 90
    assert diagnosis["copies"]["pageable_ratio"] < 0.5


BY_HAND = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
data = torch.randn(4096, 64, device="cuda")
labels = torch.zeros(4096, dtype=torch.long, device="cuda")
for at in range(0, 3200, 64):
    loss = torch.nn.functional.cross_entropy(model(data[at : at + 64]), labels[at : at + 64])
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(parameter.grad, alpha=-0.1)
    if at % 640 == 0:
        loss.item()
"""


# Nothing that torch could tell of.
FUNCTIONAL = BY_HAND.replace(
    "model.zero_grad()\n    loss.backward()",
    "gradients = torch.autograd.grad(loss, list(model.parameters()))",
).replace(
    "for parameter in model.parameters():\n            parameter.add_(parameter.grad, alpha=-0.1)",
    "for parameter, gradient in zip(model.parameters(), gradients):\n"
    "            parameter.add_(gradient, alpha=-0.1)",
)


@pytest.mark.parametrize(
    ("code", "counted_by", "words"),
    [
        (BY_HAND, "backward", "each backward() is a step"),
        (FUNCTIONAL, "kernel_repetition", "steps by repetition of its kernels"),
    ],
    ids=["backward", "functional"],
)
def test_steps_of_a_hand_written_loop_are_told(
    tmp_path: Path, code: str, counted_by: str, words: str
) -> None:
    (tmp_path / "train.py").write_text(code)
    out, told = tmp_path / "run", tmp_path / "diagnosis.json"
    options = ["--emulate", "a100", "--out", out, "--json", told]
    done = unstarve("run", *map(str, options), "--", PYTHON, str(tmp_path / "train.py"))
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads(told.read_text())
    assert diagnosis["steps"]["counted_by"] == counted_by
    # Of 50 the first is the warm-up's; at the ends one may be cut.
    assert 46 <= diagnosis["steps"]["count"] <= 49
    assert diagnosis["steps"]["mean_us"] > 0
    assert words in " ".join(done.stderr.split())
    assert "No training step was seen" not in done.stderr


EVENTS = """
import torch
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def scaled(x):
    return (x * 2 + x.shape[0]).sum()
fast = torch.compile(scaled, backend="eager", dynamic=False)
for step in range(40):
    fast(model(torch.ones(8 + step // 10, 64, device="cuda"))).backward()
    optimizer.step()
    if step % 4 == 3:
        torch.cuda.empty_cache()
    if step == 20:
        try:
            torch.empty(200 << 30, dtype=torch.uint8, device="cuda")
        except torch.cuda.OutOfMemoryError:
            pass
optimizer.step()
torch.cuda.synchronize()
"""


def test_events_of_a_job_are_named(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(EVENTS)
    told = tmp_path / "diagnosis.json"
    options = ["--emulate", "a100", "--out", tmp_path / "run", "--json", told]
    done = unstarve("run", *map(str, options), "--", PYTHON, str(tmp_path / "train.py"))
    assert done.returncode == 0, done.stderr
    events = {event["event"]: event for event in json.loads(told.read_text())["events"]}
    assert events["empty_cache"]["count"] == 10
    assert events["empty_cache"]["place"].endswith("train.py:12")
    assert events["recompilation"]["count"] == 3
    assert events["recompilation"]["place"].endswith("train.py:5")
    # In short, what a busy neighbour does to the run may take the line's place.
    shown = unstarve("report", "--verbose", str(tmp_path / "run"))
    assert "torch.cuda.empty_cache() 10 times" in " ".join(shown.stdout.split())


def test_a_job_without_pytorch_is_told_so(tmp_path: Path) -> None:
    # A stand-in for a framework that is no PyTorch.
    (tmp_path / "jax.py").write_text("")
    (tmp_path / "train.py").write_text("import jax\n")
    told = tmp_path / "diagnosis.json"
    options = ["--out", tmp_path / "run", "--json", told]
    done = unstarve("run", *map(str, options), "--", PYTHON, str(tmp_path / "train.py"))
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "No PyTorch seen in this job, but JAX, whose" in said


def test_memory_that_is_asked_for_in_each_step_is_found() -> None:
    finding = report_of("asks_for_memory")["findings"][0]
    assert (finding["cause"], finding["detail"]) == ("launch", "memory_pressure")
    # Where others use the CPUs, the first is to free them.
    assert "expandable_segments" in [remedy["id"] for remedy in finding["remedies"]]


def test_a_job_that_runs_out_of_memory_is_told_so(tmp_path: Path) -> None:
    told, said = watched(tmp_path, "allocates.py", "fill", exit_code=1)
    error = told["job"]["error"]
    assert error["kind"] == "torch.OutOfMemoryError"
    line = '        kept.append(torch.zeros(64 << 20, device="cuda"))'
    assert error["place"].endswith(line_of("allocates.py", line))
    assert f"Error torch.OutOfMemoryError at {error['place']}" in said
    assert "Take smaller batches and add up the gradients of several" in said
    assert "larger_batch" not in json.dumps(told)
    assert {event["event"]: event["count"] for event in told["events"]}["out_of_memory"] == 1
