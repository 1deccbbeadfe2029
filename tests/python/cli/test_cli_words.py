"""What is said first of a run: how the job ended, what was not seen of it, whose wait it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import environment, unstarve
from recorded import JOBS, line_of, lines_of, report_of, text_of

# One that waits long for its data, for as long as it is told.
WAITING = """
import os, sys, time, torch
from torch.utils.data import DataLoader, Dataset
class Late(Dataset):
    def __len__(self): return 64
    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.zeros(8), 0
def batches():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end: yield from DataLoader(Late(), batch_size=8)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches():
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
time.sleep(0.2)
"""


class Said(NamedTuple):
    code: int
    lines: list[str]
    found: dict[str, Any]


#: How the first line of a report begins.
HEADLINES = ("The job ", "The GPU ", "Training waits", "No training step")


def ran(lines: list[str]) -> str:
    """What a report says of how the job went."""
    start = next(n for n, line in enumerate(lines) if line.startswith("Run "))
    end = start + 1
    while end < len(lines) and lines[end].startswith(" " * 8):
        end += 1
    return " ".join(line[8:] for line in lines[start:end])


def run(tmp_path: Path, code: str, *flags: str) -> Said:
    (tmp_path / "train.py").write_text(code)
    report = tmp_path / "d.json"
    done = unstarve(
        *["run", "--out", str(tmp_path / "r"), "--json", str(report)],
        *["--", sys.executable, *flags, "train.py"],
        cwd=tmp_path,
        env={**environment(), "COLUMNS": "80"},
    )
    said = done.stderr
    if "Traceback" in said:  # which Python prints first
        said = said[said.index("The job failed") :]
    lines = [line for line in said.splitlines() if line]
    ended = next(n for n, line in enumerate(lines) if line.startswith(HEADLINES))
    assert len(lines) - ended <= 15, done.stderr
    return Said(done.returncode, lines, json.loads(report.read_text()))


@pytest.mark.parametrize(
    ("name", "code", "first", "went"),
    [
        ("ended_by_signal", 139, "The job ended by SIGSEGV.", "The job ended by SIGSEGV after 8"),
        ("ended_with_3", 3, "The job failed with exit code 3.", "exit 3 after 8 steps"),
        ("trained", 0, "Training waits for data", "exit 0 after 8 steps"),
    ],
)
def test_how_a_job_failed_is_said_first(name: str, code: int, first: str, went: str) -> None:
    lines, found = lines_of(name), report_of(name)
    assert len(lines) <= 15, lines
    assert lines[0].startswith(first), lines
    assert ran(lines).startswith(went), lines
    assert "samples/s" in ran(lines)
    assert not [line for line in lines if "let " in line and code != 0]
    job = found["job"]
    assert (job["steps"], job["exit_code"], job["failed"]) == (8, code, code != 0)
    assert job.get("exit_signal") == ("SIGSEGV" if code == 139 else None)
    assert found["steps"]["counted_by"] == "optimizer_step"


def test_a_signal_that_ends_a_job_is_recorded(tmp_path: Path) -> None:
    said = run(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert said.code == 139
    assert said.lines[0].startswith("The job ended by SIGSEGV"), said.lines
    job = said.found["job"]
    assert (job["exit_code"], job["failed"], job["exit_signal"]) == (139, True, "SIGSEGV")


WORKER_RAISES = """
import sys, torch
from torch.utils.data import DataLoader, Dataset

class Labels(Dataset):
    def __len__(self):
        return 16
    def __getitem__(self, index):
        if index == 9:
            raise ValueError("the label of row 9 is 'cat'")
        return torch.zeros(3), 1

for _ in DataLoader(Labels(), 4, num_workers=1):
    pass
"""


def test_what_a_worker_raised_is_told_by_its_own_words_and_place(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WORKER_RAISES)
    done = unstarve("run", "--json", "d.json", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    error = json.loads((tmp_path / "d.json").read_text())["job"]["error"]
    assert (error["kind"], error["place"]) == ("ValueError", "train.py:10")
    assert error["message"] == "the label of row 9 is 'cat' (in DataLoader worker process 0)"


def check_error(lines: list[str], found: dict[str, Any], place: str) -> None:
    assert lines[0] == "The job failed: RuntimeError."
    assert ran(lines).startswith("exit 1")
    assert any(line.startswith(f"Error   RuntimeError at {place}: ") for line in lines[1:4])
    error = found["job"]["error"]
    assert "mat1 and mat2 shapes" in error["message"]
    assert (error["kind"], error["place"]) == ("RuntimeError", place)


def test_the_exception_that_ended_the_job_is_said(tmp_path: Path) -> None:
    said = run(tmp_path, "import torch\n\ntorch.nn.Linear(3, 4)(torch.zeros(2, 5))")
    check_error(said.lines, said.found, "train.py:3")
    lines, found = lines_of("raised"), report_of("raised")
    assert len(lines) <= 15, lines
    check_error(lines, found, f"trains.py:{line_of('trains.py', 'torch.nn.Linear(3')}")


def test_an_exit_code_of_the_jobs_own_is_no_error(tmp_path: Path) -> None:
    """Though an exception was caught before."""
    said = run(tmp_path, "import sys, torch\ntry:\n    1 / 0\nexcept ArithmeticError: sys.exit(4)")
    assert ran(said.lines).startswith("exit 4") and "error" not in said.found["job"]
    assert ran(lines_of("ended_with_3")).startswith("exit 3")
    assert "error" not in report_of("ended_with_3")["job"]


def test_a_job_without_pytorch_is_told_so(tmp_path: Path) -> None:
    said = run(tmp_path, "print('no torch here')")
    assert said.lines[0] == "No training step was seen."
    assert "No PyTorch seen in this job" in said.lines[1]
    assert ran(said.lines).startswith("exit 0 without a training step")
    assert "No PyTorch seen in this job" in said.found["job"]["no_steps"]


def test_a_python_that_keeps_the_hook_out_is_named(tmp_path: Path) -> None:
    said = run(tmp_path, (JOBS / "trains.py").read_text().replace("sys.argv[1]", "'0'"), "-I")
    assert "`python -I` keeps unstarve's hook out" in " ".join(said.lines)
    assert "Start Python without -I" in " ".join(" ".join(said.lines).split())


@pytest.mark.parametrize(("name", "batches"), [("by_hand", 16), ("infers", 4)])
def test_without_an_optimizer_a_batch_is_a_step(name: str, batches: int) -> None:
    lines, found = lines_of(name), report_of(name)
    assert len(lines) <= 15, lines
    assert ran(lines).startswith(f"exit 0 after {batches} batches"), lines
    assert "no optimizer stepped" in " ".join(" ".join(lines).split())
    assert found["steps"]["counted_by"] == "loader_batch"
    assert found["job"]["steps"] == batches
    assert found["findings"][0]["cause"] == "input_wait"


def test_without_a_loader_either_each_backward_is_a_step() -> None:
    lines, found = lines_of("without_loader"), report_of("without_loader")
    assert len(lines) <= 15, lines
    assert ran(lines).startswith("exit 0 after 20 steps"), lines
    assert "each backward() is a step" in " ".join(" ".join(lines).split())
    assert found["steps"]["counted_by"] == "backward"
    assert found["job"]["steps"] == 20


def test_a_slow_evaluation_is_not_blamed_on_the_training() -> None:
    """Nor do places change where the job goes to another folder."""
    found, job = report_of("evaluates"), "evaluates.py"
    made, iterated = line_of(job, "slow = Data"), line_of(job, "for x, _ in slow")
    place = f" of the evaluation at {job}:{made} (iterated at {job}:{iterated})"
    assert f"the data loader{place}" in found["verdict"]
    finding = found["findings"][0]
    assert (finding["cause"], finding["share"] > 0.5) == ("input_wait", True)


def test_names_of_the_interfaces_are_for_those_who_ask() -> None:
    lines = lines_of("trained")
    assert not [line for line in lines if "input_wait" in line or "python_transform" in line]
    assert "input_wait" in text_of("trained", "--verbose")


def test_a_module_that_is_run_gives_the_run_its_name(tmp_path: Path) -> None:
    (tmp_path / "trainer.py").write_text("pass")
    done = unstarve("run", "--", sys.executable, "-m", "trainer", cwd=tmp_path)
    assert done.returncode == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("_trainer")


def test_a_verdict_comes_while_the_job_trains(tmp_path: Path) -> None:
    said = run(tmp_path, WAITING.replace("SECONDS", "14") + "print('over', file=sys.stderr)\n")
    start = "unstarve: waits for data"
    (live,) = [number for number, line in enumerate(said.lines) if line.startswith(start)]
    assert live < said.lines.index("over"), "while the job runs"
    assert " % (0 workers), " in said.lines[live]
