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
    with hook_module("batches", monkeypatch) as batches:
        assert batches.samples_in(BATCHES[name], 32 if short else right) == right


def test_an_item_that_is_a_table_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a loader that collates nothing, as of one that does."""
    copied: list[object] = []

    class Frame:
        shape = (7, 3)
        values = property(copied.append)

    with hook_module("batches", monkeypatch) as batches:
        assert batches.samples_of_item(Frame()) == 1
        assert batches.samples_of_item({"a": torch.zeros(7), "b": torch.zeros(7)}) == 7
    assert not copied


STREAMS = """
import itertools, sys, torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Numbers(IterableDataset):
    def __iter__(self):
        info = get_worker_info() if sys.argv[1] == "divides" else None
        numbers = iter(range(64))
        if info is not None:
            numbers = itertools.islice(numbers, info.id, None, info.num_workers)
        for number in numbers:
            crop = torch.rand(4) if sys.argv[1] == "crops" else torch.full((4,), float(number))
            yield crop, number

loader = DataLoader(Numbers(), batch_size=8, num_workers=int(sys.argv[2]))
for _ in range(2):
    for rows, numbers in loader:
        pass
"""


@pytest.mark.parametrize(
    ("kind", "workers", "repeat"),
    [
        ("as it is", 2, True),
        ("crops", 2, True),
        ("divides", 2, False),
        ("as it is", 1, None),
        ("as it is", 0, None),
    ],
)
def test_workers_of_a_stream_are_compared(
    tmp_path: Path, kind: str, workers: int, repeat: bool | None
) -> None:
    (tmp_path / "train.py").write_text(STREAMS)
    job = run_job(tmp_path, [tmp_path / "train.py", kind, workers])
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    for words in (job.main.text["dataset"], job.main.text["loaders"]["0"]["dataset"]):
        assert words["stream"] is True
        assert words.get("workers_repeat") is repeat
