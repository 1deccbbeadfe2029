"""What `unstarve run` says first: how the job ended, what was not seen of it, whose wait it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import environment, unstarve

pytestmark = pytest.mark.real_time

PARTS = """
import os, signal, sys, time, torch
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.set_num_threads(1)
class Slow(Dataset):
    def __len__(self): return 64
    def __getitem__(self, index):
        torch.randn(3, 100, 100).sort()
        return torch.zeros(8), 0
model = torch.nn.Linear(8, 2)
loss_of = torch.nn.functional.cross_entropy
"""

TRAINING = f"""
{PARTS}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(Slow(), batch_size=8):
    optimizer.zero_grad()
    loss_of(model(x), y).backward()
    optimizer.step()
time.sleep(0.2)
"""

BY_HAND = f"""
{PARTS}
for epoch in range(2):
    for x, y in DataLoader(Slow(), batch_size=8):
        loss_of(model(x), y).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad = None
"""

WITHOUT_A_LOADER = f"""
{PARTS}
for step in range(20):
    x, y = torch.stack([Slow()[i][0] for i in range(8)]), torch.zeros(8).long()
    loss_of(model(x), y).backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
"""

INFERENCE = f"""
{PARTS}
with torch.no_grad():
    for x, y in DataLoader(Slow(), batch_size=16): model(x).sum().item()
"""

EVALUATION = f"""
{PARTS}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
quick = DataLoader(TensorDataset(torch.zeros(160, 8), torch.zeros(160).long()), 16)
slow = DataLoader(Slow(), batch_size=16)
os.chdir("/")
for epoch in range(4):
    for x, y in quick:
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()
    for x, y in slow: model(x)
"""


class Said(NamedTuple):
    code: int
    lines: list[str]
    found: dict[str, Any]


def run(tmp_path: Path, code: str, *flags: str, options: tuple[str, ...] = ()) -> Said:
    (tmp_path / "train.py").write_text(code)
    report = tmp_path / "d.json"
    done = unstarve(
        *["run", "--out", str(tmp_path / "r"), "--json", str(report), *options],
        *["--", sys.executable, *flags, "train.py"],
        cwd=tmp_path,
        env={**environment(), "COLUMNS": "80"},
    )
    said = done.stderr
    if "Traceback" in said:  # which Python prints first
        said = said[said.index("exit ") :]
    lines = [line for line in said.splitlines() if line]
    assert len(lines) <= 15, done.stderr
    return Said(done.returncode, lines, json.loads(report.read_text()))


def line_of(code: str, marker: str) -> int:
    return 1 + code[: code.index(marker)].count("\n")


@pytest.mark.parametrize(
    ("end", "code", "first"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", 139, "The job ended by SIGSEGV after 8 steps"),
        ("sys.exit(3)", 3, "exit 3 after 8 steps"),
        ("", 0, "exit 0 after 8 steps"),
    ],
)
def test_how_the_job_ended_is_said_first(tmp_path: Path, end: str, code: int, first: str) -> None:
    said = run(tmp_path, TRAINING + end)
    assert said.code == code
    assert said.lines[0].startswith(first), said.lines
    assert "samples/s" in said.lines[0]
    assert not [line for line in said.lines if "let " in line and code != 0]
    job = said.found["job"]
    assert (job["steps"], job["exit_code"], job["failed"]) == (8, code, code != 0)
    assert job.get("exit_signal") == ("SIGSEGV" if code == 139 else None)
    assert said.found["steps"]["counted_by"] == "optimizer_step"


@pytest.mark.parametrize("raising", ["import torch", TRAINING], ids=["at once", "after steps"])
def test_the_exception_that_ended_the_job_is_said(tmp_path: Path, raising: str) -> None:
    code = f"{raising}\ntorch.nn.Linear(3, 4)(torch.zeros(2, 5))"
    said = run(tmp_path, code)
    place = f"train.py:{line_of(code, 'nn.Linear(3')}"
    assert said.lines[0].startswith("exit 1")
    assert said.lines[1].startswith(f"Error   RuntimeError at {place}: ")
    error = said.found["job"]["error"]
    assert "mat1 and mat2 shapes" in error["message"]
    assert (error["kind"], error["place"]) == ("RuntimeError", place)


def test_an_exit_code_of_the_jobs_own_is_no_error(tmp_path: Path) -> None:
    said = run(tmp_path, TRAINING + "try:\n    1 / 0\nexcept ZeroDivisionError: sys.exit(4)")
    assert said.lines[0].startswith("exit 4") and "error" not in said.found["job"]


def test_a_job_without_pytorch_is_told_so(tmp_path: Path) -> None:
    said = run(tmp_path, "print('no torch here')")
    assert said.lines[0].startswith("exit 0 without a training step")
    assert "No PyTorch seen in this job" in said.lines[1]
    assert "No PyTorch seen in this job" in said.found["job"]["no_steps"]


def test_a_python_that_keeps_the_hook_out_is_named(tmp_path: Path) -> None:
    said = run(tmp_path, TRAINING, "-I")
    assert "`python -I` keeps unstarve's hook out" in " ".join(said.lines)
    assert "Start Python without -I" in " ".join(" ".join(said.lines).split())


@pytest.mark.parametrize(("code", "batches"), [(BY_HAND, 16), (INFERENCE, 4)])
def test_without_an_optimizer_a_batch_is_a_step(tmp_path: Path, code: str, batches: int) -> None:
    said = run(tmp_path, code)
    assert said.lines[0].startswith(f"exit 0 after {batches} batches"), said.lines
    assert "no optimizer stepped" in " ".join(said.lines)
    assert said.found["steps"]["counted_by"] == "loader_batch"
    assert said.found["job"]["steps"] == batches
    assert said.found["findings"][0]["cause"] == "input_wait"


def test_without_a_loader_either_each_backward_is_a_step(tmp_path: Path) -> None:
    said = run(tmp_path, WITHOUT_A_LOADER)
    assert said.lines[0].startswith("exit 0 after 20 steps"), said.lines
    assert "each backward() is a step" in " ".join(said.lines)
    assert said.found["steps"]["counted_by"] == "backward"
    assert said.found["job"]["steps"] == 20


def test_a_slow_evaluation_is_not_blamed_on_the_training(tmp_path: Path) -> None:
    """Nor do places change where the job goes to another folder."""
    said = run(tmp_path, EVALUATION)
    made, iterated = line_of(EVALUATION, "slow = Data"), line_of(EVALUATION, "for x, y in slow")
    place = f" of the evaluation at train.py:{made} (iterated at train.py:{iterated})"
    assert f"the data loader{place}" in said.found["verdict"]
    finding = said.found["findings"][0]
    assert (finding["cause"], finding["share"] > 0.5) == ("input_wait", True)


def test_names_of_the_interfaces_are_for_those_who_ask(tmp_path: Path) -> None:
    said = run(tmp_path, TRAINING)
    assert not [line for line in said.lines if "input_wait" in line or "python_transform" in line]
    verbose = unstarve("report", "--verbose", str(tmp_path / "r")).stdout
    assert "input_wait" in verbose


def test_a_module_that_is_run_gives_the_run_its_name(tmp_path: Path) -> None:
    (tmp_path / "trainer.py").write_text("pass")
    done = unstarve("run", "--", sys.executable, "-m", "trainer", cwd=tmp_path)
    assert done.returncode == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("_trainer")


def test_a_verdict_comes_while_the_job_trains(tmp_path: Path) -> None:
    loop = TRAINING.replace("DataLoader(Slow(), batch_size=8):", "forever():").replace(
        "for x, y in forever",
        "def forever():\n"
        "    end = time.monotonic() + 14\n"
        "    while time.monotonic() < end: yield from DataLoader(Slow(), batch_size=8)\n"
        "for x, y in forever",
    )
    said = run(tmp_path, loop + "print('over', file=sys.stderr)\n")
    start = "unstarve: waits for data"
    (live,) = [number for number, line in enumerate(said.lines) if line.startswith(start)]
    assert live < said.lines.index("over"), "while the job runs"
    assert " % (0 workers), " in said.lines[live]
