"""`unstarve tune` on an emulated GPU, which computes nothing: parity is not observed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from emulation import PYTHON, UNSTARVE, run_to_its_end
from measuring import measured
from recorded_runs import JOBS, SEARCHES

JOB = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs = torch.randn(4096, 4096).cuda()
for step in range(2000):
    loss = model(inputs).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


class Tuned(NamedTuple):
    folder: Path
    found: dict[str, Any]
    done: subprocess.CompletedProcess[str]


def tuned(
    folder: Path, job: str, options: list[str], judge: Callable[[dict[str, Any]], None]
) -> Tuned:
    """What a search by short trials finds, in a folder of its own each time."""

    def measure() -> Tuned:
        place = Path(tempfile.mkdtemp(dir=folder))
        (place / "job.py").write_text(job)
        words = [str(UNSTARVE), "tune", "--emulate", "a100", "--trial-seconds", "1", "--out", "r"]
        words += [*options, "--json", "t.json", "--", PYTHON, "job.py"]
        done = run_to_its_end(words, dict(os.environ, NO_COLOR="1"), 600, cwd=place)
        assert done.returncode == 0, done.stderr
        return Tuned(place, json.loads((place / "t.json").read_text()), done)

    return measured(measure, lambda made: judge(made.found))


@pytest.mark.slow
def test_nothing_that_changes_numbers_is_accepted(tmp_path: Path) -> None:
    def judge(found: dict[str, Any]) -> None:
        (bf16,) = [lever for lever in found["levers"] if lever["id"] == "bf16_autocast"]
        assert bf16["speedup"]["low"] > 1.2, bf16
        assert (bf16["kept"], bf16["parity"]) == (False, "not_observed")
        assert "all losses are zero" in bf16["why"]
        assert found["baseline"]["device"] == "cuda" and found["best"]["changes"] == []

    options = ["--parity-steps", "5", "--only", "bf16_autocast"]
    folder, found, _ = tuned(tmp_path, JOB, options, judge)
    resumed = [str(UNSTARVE), "tune", "--resume", "r", "--json", "again.json"]
    done = run_to_its_end(resumed, dict(os.environ, NO_COLOR="1"), 600, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "emulating 1 x NVIDIA A100" in done.stderr, "the GPU that it began with"
    assert json.loads((folder / "again.json").read_text())["trials"] == found["trials"]
    done = run_to_its_end([*resumed, "--emulate", "t4"], dict(os.environ), 600, cwd=folder)
    assert done.returncode != 0 and "goes on as it began" in done.stderr


def decided_again(name: str, folder: Path) -> dict[str, Any]:
    """What comes of a search that was recorded: nothing of it is run again."""
    (folder / "r").mkdir()
    shutil.copy(SEARCHES / name / "journal.jsonl", folder / "r")
    shutil.copy(JOBS / "fills_memory.py", folder)
    words = [str(UNSTARVE), "tune", "--resume", "r", "--json", "t.json"]
    done = run_to_its_end(words, dict(os.environ, NO_COLOR="1"), 60, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "r/trials").exists()
    found: dict[str, Any] = json.loads((folder / "t.json").read_text())
    return found


def test_the_largest_batch_that_fits_is_proposed_and_never_accepted(tmp_path: Path) -> None:
    found = decided_again("batches", tmp_path)
    tried = {lever["id"]: lever for lever in found["levers"]}
    # A step takes as long with twice as many samples, so that four times as many come next.
    assert list(tried) == ["batch=16", "batch=64", "batch=72"], "no run out of memory"
    (proposed,) = found["proposed"]
    assert proposed["id"] == "batch=72"
    assert "with SGD try 9 times the learning rate" in proposed["how"]
    assert tried["batch=72"]["speedup"]["low"] > 3
    assert found["best"]["changes"] == []


def test_where_memory_ends_what_saves_it_is_tried_with_larger_batches(tmp_path: Path) -> None:
    found = decided_again("saved_memory", tmp_path)
    tried = {lever["id"]: lever for lever in found["levers"]}
    alone = tried["gradient_checkpointing"]
    assert alone["why"].startswith("saves 2.9") and not alone["kept"], alone
    (proposed,) = found["proposed"]
    assert proposed["id"] == "batch=144 gradient_checkpointing", tried
    assert "model.set_grad_checkpointing()" in proposed["how"]
    assert "batch=144" in tried["batch=72"]["why"]


# The host runs ahead of the GPU by as many calls as its queue takes.
INFERENCE = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(4)]).cuda()
inputs = torch.randn(4096, 4096).cuda()
with torch.inference_mode():
    while True:
        model(inputs)
"""


@pytest.mark.slow
def test_a_call_is_timed_from_an_idle_gpu_to_an_idle_gpu(tmp_path: Path) -> None:
    def judge(found: dict[str, Any]) -> None:
        # A step is a call, all of which the GPU computes; launching one takes a hundredth of that.
        job = found["baseline"]
        assert 0.9 < job["latency"]["median_us"] / job["step_us"] < 1.5, job

    _, found, done = tuned(tmp_path, INFERENCE, ["--only", "threads"], judge)
    assert found["baseline"]["latency"]["calls"] >= 1
    assert "; a call takes " in " ".join(done.stdout.split())
