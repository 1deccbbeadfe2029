"""`unstarve run` where no GPU can be seen: what the host's records alone say of a CPU training."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import EMULATED, unstarve

pytestmark = [pytest.mark.real_time, pytest.mark.alone]

TRAINING = """
import sys, time, torch
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.set_num_threads(1)
class Data(Dataset):
    def __len__(self): return SAMPLES
    def __getitem__(self, index):
        load()
        return torch.zeros(3, 32, 32), 0
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.Conv2d(32, 64, 3, padding=1),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(64, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = torch.nn.CrossEntropyLoss()
def train(loader):
    for images, labels in loader:
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

# Batches that lie in memory: next to nothing is waited for.
FED = f"""
{TRAINING}
train(DataLoader(TensorDataset(torch.zeros(640, 3, 32, 32), torch.zeros(640).long()), 32))
"""

# The data set's own code takes far longer than a step.
STARVED = f"""
SAMPLES = 320
def load(): torch.randn(3, 160, 160).sort()
{TRAINING}
train(DataLoader(Data(), 16))
"""

# Two workers, each of which makes a batch in the time of several steps: they hand over together, so
# that every second wait is long.
LOCKSTEP = f"""
SAMPLES = 640
def load(): time.sleep(0.006)
{TRAINING}
train(DataLoader(Data(), 16, num_workers=2))
"""

# An epoch of four steps, and workers that take long to start in each.
RESTARTING = f"""
SAMPLES = 32
def load(): pass
def slow_start(worker): time.sleep(0.3)
{TRAINING}
loader = DataLoader(Data(), 8, num_workers=2, worker_init_fn=slow_start, persistent_workers=PERSIST)
for epoch in range(6):
    train(loader)
"""


class Watched(NamedTuple):
    found: dict[str, Any]
    text: str  # that the run ended with, without notes

    @property
    def reasons(self) -> set[str]:
        return {remedy["id"] for f in self.found["findings"] for remedy in f["remedies"]}


def watch(tmp_path: Path, code: str, *options: str) -> Watched:
    (tmp_path / "train.py").write_text(code)
    report = tmp_path / "d.json"
    done = unstarve(
        *["run", "--out", str(tmp_path / "r"), "--json", str(report), *options],
        *["--", sys.executable, "train.py"],
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("unstarve:")]
    return Watched(json.loads(report.read_text()), "\n".join(lines))


def line_of(code: str, marker: str) -> int:
    return 1 + code[: code.index(marker)].count("\n")


def test_a_job_that_is_fed_is_told_so(tmp_path: Path) -> None:
    job = watch(tmp_path, FED)
    assert job.found["verdict"].startswith("Not input-bound: waiting for the data loader at ")
    assert "is the training itself, on the CPU" in job.found["verdict"]
    time = job.found["thread_time"]
    assert time["input_wait"] < 0.05
    assert time["sync"] == {"absent": "not_observed"}
    assert time["input_wait"] + time["own_work"] == 1
    assert job.found["steps"]["samples_per_s"] > 0
    # Short, in words that need no manual, and without advice that nobody needs.
    assert len(job.text.splitlines()) <= 15, job.text
    assert "samples/s" in job.text
    assert "num_workers" not in job.text
    for internal in ("_ratio", "Not seen, so not judged", "gpu_low_cpu_low", "absent"):
        assert internal not in job.text
    assert "GPU activity was not observed (this job trains on the CPU)" in job.text
    assert [unseen["what"] for unseen in job.found["not_observed"]] == ["GPU activity"]
    assert job.found["abstentions"], "they are in the JSON as before"


def test_a_starving_job_is_told_why(tmp_path: Path) -> None:
    job = watch(tmp_path, STARVED)
    verdict = job.found["verdict"]
    share = job.found["findings"][0]["share"]
    assert share > 0.5
    assert verdict.startswith(f"Input-bound: {share:.0%}".replace("%", " %")), verdict
    made = line_of(STARVED, "train(DataLoader(")
    iterated = line_of(STARVED, "for images, labels")
    assert f"at train.py:{made} (iterated at train.py:{iterated})" in verdict
    assert ", mostly because of " in verdict
    assert "GPU" not in verdict, "there is none to speak of"
    finding = job.found["findings"][0]
    assert (finding["cause"], finding["confidence"]) == ("input_wait", "clear")
    # On a machine that is busy otherwise, that is the reason.
    assert finding["detail"] in ("python_transform", "too_few_workers", "busy_neighbour")
    assert len(job.text.splitlines()) <= 18, job.text
    # A remedy that competes with the training is named for a gain that is sure, or not at all.
    for remedy in finding["remedies"]:
        if remedy["id"] in ("more_workers", "unstarve_loader"):
            sure = remedy["predicted"].get("low", 0) > 1
            assert sure or remedy["how"][5:40] not in verdict


def test_workers_in_lockstep_do_not_start_anew(tmp_path: Path) -> None:
    job = watch(tmp_path, LOCKSTEP)
    assert job.found["verdict"].startswith("Input-bound: ")
    assert "start anew" not in job.text
    assert "persistent_workers" not in job.reasons
    # On a machine that is busy otherwise, that the data set sleeps may not show.
    assert job.found["findings"][0]["detail"] != "loader_startup"
    evidence = " ".join(job.found["findings"][0]["evidence"])
    assert "2 workers" in evidence


def test_workers_that_start_anew_are_seen_to(tmp_path: Path) -> None:
    job = watch(tmp_path, RESTARTING.replace("PERSIST", "False"))
    assert job.found["findings"][0]["detail"] == "loader_startup"
    assert "workers that start anew" in job.found["verdict"]
    assert "persistent_workers" in job.reasons
    evidence = " ".join(job.found["findings"][0]["evidence"])
    assert "5 times" in evidence, "the first start lies in the warm-up"


def test_workers_that_live_on_are_not_blamed_for_starting(tmp_path: Path) -> None:
    job = watch(tmp_path, RESTARTING.replace("PERSIST", "True"))
    assert "persistent_workers" not in job.reasons


def test_all_is_shown_when_asked_for(tmp_path: Path) -> None:
    watch(tmp_path, FED)
    for command in ("report", "diagnose"):
        brief = unstarve(command, str(tmp_path / "r")).stdout
        assert "Not seen, so not judged" not in brief
        verbose = unstarve(command, "--verbose", str(tmp_path / "r")).stdout
        assert "Not seen, so not judged" in verbose
        assert "gpu_compute_ratio" in verbose
        assert "What watching cost" in verbose


def test_a_gpu_that_was_seen_is_not_missing(tmp_path: Path) -> None:
    code = FED.replace("optimizer = ", "model.cuda()\noptimizer = ").replace(
        "criterion(model(images), labels)", "criterion(model(images.cuda()), labels.cuda())"
    )
    # PyTorch 2.15 may abort where Python ends right behind a backward pass.
    job = watch(tmp_path, code + "time.sleep(0.2)\n", *EMULATED)
    assert job.found["not_observed"] == []
    assert "partition" in job.found
    assert "GPU activity was not observed" not in job.text
