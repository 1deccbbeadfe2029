"""`unstarve tune` on an emulated GPU, which computes nothing: parity is not observed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from emulation import PYTHON, UNSTARVE, run_to_its_end
from measuring import measured
from recorded_runs import JOBS, SEARCHES

JOB_OF = {
    "batches": "fills_memory.py",
    "bf16": "trains_large_layers.py",
    "saved_memory": "fills_memory.py",
}


def begun(search: str, folder: Path) -> list[str]:
    """A search that was recorded, as the folder of its trials; the words to go on with it."""
    (folder / "r").mkdir()
    shutil.copy(SEARCHES / search / "journal.jsonl", folder / "r")
    shutil.copy(JOBS / JOB_OF[search], folder)
    return [str(UNSTARVE), "tune", "--resume", "r", "--json", "t.json"]


def decided_again(search: str, folder: Path) -> tuple[dict[str, Any], str]:
    """What comes of a search that was recorded, and what is said: nothing of it is run again."""
    done = run_to_its_end(begun(search, folder), dict(os.environ, NO_COLOR="1"), 60, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "r/trials").exists()
    return json.loads((folder / "t.json").read_text()), done.stderr


def test_nothing_that_changes_numbers_is_accepted(tmp_path: Path) -> None:
    found, said = decided_again("bf16", tmp_path)
    (bf16,) = [lever for lever in found["levers"] if lever["id"] == "bf16_autocast"]
    assert bf16["speedup"]["low"] > 1.2, bf16
    assert (bf16["kept"], bf16["parity"]) == (False, "not_observed")
    assert "all losses are zero" in bf16["why"]
    assert found["baseline"]["device"] == "cuda" and found["best"]["changes"] == []
    assert "emulating 1 x Tesla T4" in said, "the GPU that it began with"


def test_a_search_goes_on_with_the_gpu_that_it_began_with(tmp_path: Path) -> None:
    words = [*begun("bf16", tmp_path), "--emulate", "a100"]
    done = run_to_its_end(words, dict(os.environ), 60, cwd=tmp_path)
    assert done.returncode != 0 and "goes on as it began" in done.stderr


def test_the_largest_batch_that_fits_is_proposed_and_never_accepted(tmp_path: Path) -> None:
    found, _ = decided_again("batches", tmp_path)
    tried = {lever["id"]: lever for lever in found["levers"]}
    # A step takes as long with twice as many samples, so that four times as many come next.
    assert list(tried) == ["batch=16", "batch=64", "batch=72"], "no run out of memory"
    (proposed,) = found["proposed"]
    assert proposed["id"] == "batch=72"
    assert "with SGD try 9 times the learning rate" in proposed["how"]
    assert tried["batch=72"]["speedup"]["low"] > 3
    assert found["best"]["changes"] == []


def test_where_memory_ends_what_saves_it_is_tried_with_larger_batches(tmp_path: Path) -> None:
    found, _ = decided_again("saved_memory", tmp_path)
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


def test_a_call_is_timed_from_an_idle_gpu_to_an_idle_gpu(tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text(INFERENCE)
    words = [str(UNSTARVE), "tune", "--emulate", "a100", "--trial-seconds", "1"]
    words += ["--only", "threads", "--json", "t.json", "--", PYTHON, "serve.py"]

    def measure() -> tuple[dict[str, Any], str]:
        done = run_to_its_end(words, dict(os.environ, NO_COLOR="1"), 600, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "t.json").read_text())["baseline"], done.stdout

    def judge(found: tuple[dict[str, Any], str]) -> None:
        # A step is a call, all of which the GPU computes; launching one takes a hundredth of that.
        job, _ = found
        assert 0.9 < job["latency"]["median_us"] / job["step_us"] < 1.5, job

    job, said = measured(measure, judge)
    assert job["latency"]["calls"] >= 1
    assert "; a call takes " in " ".join(said.split())
