"""What the hook makes of a job's loaders: words for as many as fit, samples of any batch, and
nothing that the job could notice."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from hook_jobs import HOOK, hook_module, run_job

MANY = """
import sys, time
from torch.utils.data import DataLoader
took = []
for episode in range(1, 1501):
    begun = time.thread_time()
    for batch in DataLoader(range(episode), batch_size=episode):
        pass
    took.append(time.thread_time() - begun)
print(DataLoader.__init__.__code__.co_varnames[:3])
print(len(sys.modules["_unstarve_hook.recorder"].RECORDER.facts("loaders")))
"""


def test_of_many_loaders_the_first_are_described(tmp_path: Path) -> None:
    job = run_job(tmp_path, ["-c", MANY])
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    varnames, described = job.process.stdout.splitlines()
    assert varnames == "('self', 'dataset', 'batch_size')", "trainers look at them"
    assert 1 < int(described) < 50
    assert len(job.main.of("loader")) == 1500
    assert "0" in job.main.text["loaders"] and "left_out" not in job.main.text


AT_THE_END = """
import sys
from torch.utils.data import DataLoader
batches = iter(DataLoader(range(8), num_workers=1))
next(batches)
workers = list(batches._workers)
names = vars(sys.modules["_unstarve_hook.loaders"])
for name in list(names):
    names[name] = None  # as Python may at its end
del batches
print([worker.is_alive() for worker in workers])
"""


def test_workers_end_though_the_interpreter_is_at_its_end(tmp_path: Path) -> None:
    job = run_job(tmp_path, ["-c", AT_THE_END])
    assert (job.process.stdout, job.process.stderr) == ("[False]\n", "")


def test_any_python_can_read_what_it_finds_at_its_start() -> None:
    """One of a job's helpers may be a Python 2, which would say that it cannot."""
    tree = ast.parse((HOOK / "sitecustomize.py").read_text())
    for node in ast.walk(tree):
        assert not isinstance(node, (ast.AnnAssign, ast.JoinedStr, ast.AsyncFunctionDef))
        assert not getattr(node, "annotation", None) and not getattr(node, "returns", None)
        if isinstance(node, ast.Name):
            assert node.id not in ("ModuleNotFoundError", "FileNotFoundError")


class Table:
    """As a pandas frame: to ask for its values copies all of it."""

    shape = (7, 3)

    @property
    def values(self) -> Any:
        raise AssertionError("copied")


image, label = torch.zeros(3, 4, 4), 1
BATCHES: dict[str, Any] = {
    "tensor": torch.zeros(7, 3),
    "parts": (torch.zeros(7, 3, 4, 4), torch.zeros(7)),
    "by name": {"images": torch.zeros(7, 3), "labels": torch.zeros(7)},
    "by name, with labels": ({"ids": torch.zeros(7, 9)}, torch.zeros(7)),
    "table": Table(),
    "samples": [(image, label)] * 7,
    "samples by name": [{"image": image}] * 7,
    "parts of samples": ((image,) * 7, (label,) * 7),
    "numbers": [1.5] * 7,
    "texts": ["a", "b", "c", "d", "e", "f", "g"],
    "many images": [image] * 9,
}


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.parametrize("short", [False, True])
def test_samples_of_a_batch_are_counted(
    name: str, short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = 9 if name == "many images" else 7
    with hook_module("loaders", monkeypatch) as loaders:
        assert loaders._samples_in(BATCHES[name], 32 if short else right) == right
