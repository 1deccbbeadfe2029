"""Many loaders without workers in one process: torch's have no threads, and nothing lies ready."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from batches import apart
from torch.utils import data
from torchvision import datasets, transforms
from unstarve import DataLoader
from unstarve.engine.at_work import AT_WORK_MAX, AtWork
from unstarve.engine.native_options import compiled_list
from unstarve.lowering.decision import lower

CENTRE = transforms.Compose(
    [transforms.Resize(72), transforms.CenterCrop((64, 56)), transforms.PILToTensor()]
)


def folder_of(root: Path) -> Any:
    return datasets.ImageFolder(str(root), CENTRE)


def native(*arguments: Any, **named: Any) -> Any:
    loader = DataLoader(*arguments, **named)
    assert loader.explain().engine == "native", loader.explain()
    return loader


def threads() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def test_many_loaders_have_the_threads_of_a_few(folder: Path) -> None:
    before = threads()
    dataset = folder_of(folder)
    epochs = [iter(native(dataset, batch_size=2)) for _ in range(3 * AT_WORK_MAX)]
    for _ in range(2):
        for epoch in epochs:
            next(epoch)
    of_one = len(os.sched_getaffinity(0)) + 1  # loading threads, and one that decides
    assert threads() - before <= AT_WORK_MAX * of_one


def test_batches_in_turn_are_those_of_torch(folder: Path) -> None:
    dataset = folder_of(folder)
    count = AT_WORK_MAX + 2

    def in_turn(kind: Any) -> list[Any]:
        loaders = [
            kind(dataset, batch_size=3, shuffle=True, generator=torch.Generator().manual_seed(seed))
            for seed in range(count)
        ]
        epochs = [iter(loader) for loader in loaders]
        taken = []
        for _ in range(len(loaders[0])):
            for number, epoch in enumerate(epochs):
                # Every third is asked twice, and loads ahead from then on.
                taken += [next(epoch, None) for _ in range(2 if number % 3 == 0 else 1)]
        return [batch for batch in taken if batch is not None]

    for (ours, labels), (reference, wanted) in zip(
        in_turn(native), in_turn(data.DataLoader), strict=True
    ):
        assert labels.tolist() == wanted.tolist()
        assert apart(ours, reference) <= 1


def test_loaders_of_one_data_set_share_its_list(folder: Path) -> None:
    dataset = folder_of(folder)
    first = lower(DataLoader(data.Subset(dataset, [0, 1]))).work
    second = lower(DataLoader(dataset, batch_size=2)).work
    assert first is not None and second is not None
    assert first.samples is second.samples
    assert compiled_list(first.samples) is compiled_list(second.samples)
    dataset.samples[0] = (dataset.samples[0][0], 1)
    third = lower(DataLoader(dataset)).work
    assert third is not None and third.samples is not second.samples
    assert third.samples[0][1] == 1 and second.samples[0][1] == 0
    other = lower(DataLoader(folder_of(folder))).work
    assert other is not None and other.samples is not first.samples


class FakeEngine:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.reads_ahead: bool | None = None
        self.rests = 0

    def rest(self) -> None:
        self.rests += 1

    def set_reads_ahead(self, reads_ahead: bool) -> None:
        self.reads_ahead = reads_ahead


def test_those_asked_last_are_at_work() -> None:
    working = AtWork(2)
    engines = [FakeEngine() for _ in range(3)]
    first, _, third = engines
    for engine in engines:
        working.begins(engine)
    assert [engine.reads_ahead for engine in engines] == [True, True, False]
    assert [engine.rests for engine in engines] == [0, 0, 1]
    working.asked(first)
    working.asked(third)  # which takes the place of the second
    assert [engine.reads_ahead for engine in engines] == [True, False, False]
    assert [engine.rests for engine in engines] == [0, 1, 1]
    working.asked(third)
    assert third.reads_ahead and first.rests == 0


def test_one_that_is_gone_leaves_its_place() -> None:
    working = AtWork(1)
    gone = FakeEngine()
    working.begins(gone)
    del gone
    other = FakeEngine()
    working.begins(other)
    assert other.reads_ahead and not other.rests


def test_a_forked_child_begins_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    working = AtWork(1)
    parents = FakeEngine()
    working.begins(parents)
    monkeypatch.setattr("unstarve.engine.at_work.os.getpid", lambda: -1)
    childs = FakeEngine()
    working.asked(childs)
    assert not parents.rests
