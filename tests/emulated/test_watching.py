"""What unstarve itself sees of jobs on emulated GPUs: rings, samples, diagnosis."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve

pytestmark = pytest.mark.real_time

TRAIN = """
import sys, time, torch
gpu, slow_s = int(sys.argv[1]), float(sys.argv[2])
torch.cuda.set_device(gpu)
class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 320
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

TWO = """
import subprocess, sys
train = sys.argv[1]
jobs = [subprocess.Popen([sys.executable, train, gpu, slow]) for gpu, slow in
        (arguments.split() for arguments in sys.argv[2:])]
sys.exit(max(job.wait() for job in jobs))
"""


def watched(
    tmp_path: Path, gpus: int, *jobs: str
) -> tuple[dict[str, Any], sqlite3.Connection, Path]:
    """Runs one training for each of `jobs` ("GPU SLOW_S") in one watched job."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "two.py").write_text(TWO)
    out, diagnosis = tmp_path / "run", tmp_path / "diagnosis.json"
    options = ["--emulate", "a100", "--gpus", str(gpus), "--out", out, "--json", diagnosis]
    job = [PYTHON, tmp_path / "two.py", tmp_path / "train.py", *jobs]
    done = unstarve("run", *map(str, options), "--", *map(str, job))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    answers: dict[str, Any] = json.loads(diagnosis.read_text())
    return answers, sqlite3.connect(out / "run.sqlite"), out


def mean_of(run: sqlite3.Connection, subject: str, metric: str) -> float:
    rows = run.execute(
        "select avg(value) from sample join metric on metric.id = sample.metric_id"
        " where subject = ? and name = ?",
        (subject, metric),
    )
    return float(next(rows)[0])


def test_two_ranks_on_two_gpus_are_kept_apart(tmp_path: Path) -> None:
    diagnosis, run, _ = watched(tmp_path, 2, "0 0.0", "1 0.01")
    fast, slow = diagnosis["devices"]
    assert [fast["index"], slow["index"]] == [0, 1]
    assert fast["emulated"] is True
    # Only the second rank waits for its data, and only its device idles for it.
    waits = [device["partition"]["input_wait"] for device in (fast, slow)]
    assert waits[1] > 0.5
    assert waits[0] < waits[1] - 0.2
    assert [device["partition"]["gpu_compute"] > 0 for device in (fast, slow)] == [True, True]
    assert len(list(run.execute("select file from ring where file like 'cupti-%'"))) == 2
    assert list(run.execute("select idx, emulated from device")) == [(0, 1), (1, 1)]
    for subject in ("gpu0", "gpu1"):
        assert mean_of(run, subject, "gpu.memory_used_bytes") > 1 << 20
        assert mean_of(run, subject, "gpu.power_w") > 55


def test_two_processes_share_a_gpu(tmp_path: Path) -> None:
    _, run, out = watched(tmp_path, 1, "0 0.002", "0 0.002")
    rings = list(run.execute("select file, lost, damaged from ring where file like 'cupti-%'"))
    assert len(rings) == 2
    assert {row[1:] for row in rings} == {(0, 0)}
    # All was read: rings and the names beside them are gone.
    assert list((out / "rings").iterdir()) == []
    again = unstarve("diagnose", "--json", str(out))
    assert again.returncode == 0, again.stderr
    diagnosis = json.loads(again.stdout)
    (device,) = diagnosis["devices"]
    assert 0 < device["gpu_busy_ratio"] <= 1
    # One copy to the device for each batch of both, from page-locked memory.
    assert diagnosis["copies"]["h2d_count"] >= 80
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
    said = " ".join(done.stderr.split())
    assert "torch.cuda.empty_cache() 10 times" in said


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


MEMORY = """
import sys, time, torch
from torch import nn
if sys.argv[1] == "fill":
    torch.cuda.set_per_process_memory_fraction(0.02)
model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
end = time.monotonic() + 4
while time.monotonic() < end:
    loss = model(torch.zeros(4096, 256, device="cuda")).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if sys.argv[1] == "fill":
        kept.append(torch.zeros(64 << 20, device="cuda"))
"""


def told_of_memory(tmp_path: Path, what: str, code: int, *variables: str) -> tuple[Any, str]:
    (tmp_path / "train.py").write_text(MEMORY)
    told = tmp_path / "diagnosis.json"
    options = ["--emulate", "a100", "--out", tmp_path / "run", "--json", told]
    job = ["env", *variables, PYTHON, str(tmp_path / "train.py"), what]
    done = unstarve("run", *map(str, options), "--", *job)
    assert done.returncode == code, done.stderr
    return json.loads(told.read_text()), " ".join(done.stderr.split())


def test_memory_that_is_asked_for_in_each_step_is_found(tmp_path: Path) -> None:
    told, _ = told_of_memory(tmp_path, "ask", 0, "PYTORCH_NO_CUDA_MEMORY_CACHING=1")
    finding = told["findings"][0]
    assert (finding["cause"], finding["detail"]) == ("launch", "memory_pressure")
    # Beside other tests the first may be to free the CPUs.
    assert "expandable_segments" in [remedy["id"] for remedy in finding["remedies"]]


def test_a_job_that_runs_out_of_memory_is_told_so(tmp_path: Path) -> None:
    told, said = told_of_memory(tmp_path, "fill", 1)
    error = told["job"]["error"]
    assert error["kind"] == "torch.OutOfMemoryError"
    line = 1 + MEMORY[: MEMORY.index("kept.append")].count("\n")
    assert error["place"].endswith(f"train.py:{line}")
    assert f"Error torch.OutOfMemoryError at {error['place']}" in said
    assert "Take smaller batches and add up the gradients of several" in said
    assert "larger_batch" not in json.dumps(told)
    assert {event["event"]: event["count"] for event in told["events"]}["out_of_memory"] == 1
