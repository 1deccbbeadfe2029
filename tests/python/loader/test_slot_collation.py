"""What `default_collate` stacks in a worker lies in the batch's slots, and nothing else does."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, default_collate
from torch.utils.data._utils import collate as torch_collate
from unstarve import DataLoader as DropIn
from unstarve import _native
from unstarve.workers.collate import SlotCollation
from unstarve.workers.packing import BatchMemory, pack

BYTES = 40_000
ROWS = [torch.full((BYTES // 8,), float(row)) for row in range(2)]


class Worker:
    """One's memory and its collate function, in this process."""

    def __init__(self) -> None:
        self.file = _native.create_slot_memory()
        self.memory = BatchMemory(_native.SlotWriter(self.file))
        self.collation = SlotCollation(self.memory)
        self.collation.begin()

    def slots_of(self, collate_fn: Callable[[Any], Any], samples: Any = ROWS) -> int:
        """How many slots a batch has before it is packed."""
        batch = self.collation.within(collate_fn)(samples)
        count = len(self.memory._segments)
        pack(self.memory, batch)
        for slot in self.memory.take():
            self.memory._writer.abandon(slot)
        return count


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    table = torch_collate.default_collate_fn_map
    with monkeypatch.context() as patch:
        patch.setitem(table, torch.Tensor, table[torch.Tensor])
        made = Worker()
        yield made
    os.close(made.file)
    vars(made).clear()  # pytest holds on to it


def test_a_batch_lies_in_a_slot(worker: Worker) -> None:
    assert worker.slots_of(default_collate) == 1


def test_what_a_data_set_collates_does_not(worker: Worker) -> None:
    assert torch.equal(default_collate(ROWS), torch.stack(ROWS))
    assert worker.memory.take() == []


def test_nor_what_another_thread_collates_meanwhile(worker: Worker) -> None:
    def collate(samples: Any) -> Any:
        thread = threading.Thread(target=default_collate, args=[ROWS])
        thread.start()
        thread.join()
        return samples

    worker.slots_of(default_collate)
    assert worker.slots_of(collate) == 0


def test_nor_what_a_forked_process_collates(worker: Worker) -> None:
    def collate(samples: Any) -> Any:
        child = os.fork()
        if child == 0:
            default_collate(ROWS)
            os._exit(len(worker.memory._segments))
        assert os.waitpid(child, 0)[1] == 0
        return samples

    worker.slots_of(default_collate)
    worker.slots_of(collate)


def test_a_collate_function_stacks_as_much_into_slots_as_it_returns(worker: Worker) -> None:
    def collate(samples: Any) -> Any:
        for _ in range(5):
            default_collate(samples)
        return default_collate(samples)

    assert worker.slots_of(collate) == 0, "nothing is known of it yet"
    worker.slots_of(collate)
    worker.collation.within(collate)(ROWS)
    assert sum(segment.used for segment in worker.memory._segments) == BYTES


def test_one_that_keeps_its_results_is_left_some_slots(worker: Worker) -> None:
    kept = []

    def collate(samples: Any) -> Any:
        kept.append(default_collate(samples))
        return kept[-1]

    small = [torch.full((10,), float(row)) for row in range(2)]
    for _ in range(1100):
        worker.slots_of(collate, small)
    assert worker.memory.allocations < 1100
    assert all(torch.equal(one, torch.stack(small)) for one in kept)


class InThreads:
    """Its parts are collated by threads of its own."""

    def __len__(self) -> int:
        return 150

    def __getitem__(self, index: int) -> list[Any]:
        def part(number: int) -> Any:
            return default_collate([torch.full((64,), float(8 * index + number))] * 4)

        with ThreadPoolExecutor(8) as threads:
            return list(threads.map(part, range(8)))


def test_parts_that_threads_collate_are_whole() -> None:
    for index, parts in enumerate(DropIn(InThreads(), batch_size=None, num_workers=1)):
        for number, part in enumerate(parts):
            assert torch.equal(part, torch.full((4, 64), float(8 * index + number)))


class Collated:
    """What it collates is made anew for a moment, or kept for ever."""

    def __init__(self, *, kept: bool) -> None:
        self._kept: list[Any] | None = [] if kept else None

    def __len__(self) -> int:
        return 4200 if self._kept is not None else 96

    def __getitem__(self, index: int) -> Any:
        if self._kept is not None:
            self._kept.append(default_collate([torch.full((10,), float(index))] * 2))
            return self._kept[-1]
        frames = default_collate([torch.full((1 << 14,), float(index))] * 16)
        return frames.mean(1)


def test_a_data_set_keeps_as_many_as_it_likes() -> None:
    found = [int(batch[0, 0, 0]) for batch in DropIn(Collated(kept=True), num_workers=1)]
    assert found == list(range(4200))


def test_what_is_made_for_a_moment_takes_no_shared_memory() -> None:
    loader = DropIn(Collated(kept=False), 32, num_workers=1)
    batches = iter(loader)
    next(batches)
    files = [file for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]
    slots = [file for file in files if "memfd:" in str(file.readlink())]
    assert 0 < sum(file.stat().st_blocks * 512 for file in slots) < 32 << 20
    assert len(list(batches)) == 2


class Numbers(IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Iterator[int]:
        return iter(range(100))


class ThroughALoader(IterableDataset):  # type: ignore[misc]
    """Reads through a loader of its own."""

    def __init__(self, *, as_they_come: bool) -> None:
        self._as_they_come = as_they_come

    def __iter__(self) -> Iterator[Any]:
        batches = iter(DataLoader(Numbers(), batch_size=5))
        return batches if self._as_they_come else (batch.sum() for batch in batches)


@pytest.mark.parametrize("as_they_come", [False, True])
def test_a_loader_within_a_data_set_has_no_part_in_the_state(as_they_come: bool) -> None:
    def loader() -> Any:
        size = None if as_they_come else 2
        return DropIn(ThroughALoader(as_they_come=as_they_come), size, num_workers=1)

    first = loader()
    batches = iter(first)
    for _ in range(2):
        next(batches)
    state = first.state_dict()
    rest = [batch.tolist() for batch in batches]
    again = loader()
    again.load_state_dict(state)
    assert [batch.tolist() for batch in again] == rest
