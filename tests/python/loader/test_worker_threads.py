"""Worker threads, which a Python without the interpreter lock uses; forced under the lock here."""

from __future__ import annotations

import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from torch.utils.data import DataLoader, IterableDataset, MapDataPipe, get_worker_info
from unstarve.workers import make_iterator, prefers_threads
from worker_data import Failing, Returning, as_list, same

warnings.filterwarnings("ignore", message="This DataLoader will create", category=UserWarning)


class Loader(DataLoader):  # type: ignore[misc]
    def _get_iterator(self) -> Any:
        return make_iterator(self, threads=True)


class Shared(IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Any:
        info = get_worker_info()
        yield from range(info.id, 17, info.num_workers)


def sample(index: int) -> Any:
    return np.full((50, 50), index), torch.tensor(index), f"sample {index}"


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("collate", [None, as_list])
@pytest.mark.parametrize("persistent", [False, True])
def test_batches_are_torchs(workers: int, collate: Any, persistent: bool) -> None:
    def run(kind: Any) -> list[Any]:
        torch.manual_seed(3)
        loader = kind(
            Returning(sample, 31),
            4,
            shuffle=True,
            num_workers=workers,
            collate_fn=collate,
            persistent_workers=persistent,
        )
        return [list(loader) for _ in range(2)]

    assert same(run(Loader), run(DataLoader))


@pytest.mark.parametrize("persistent", [False, True])
def test_each_thread_has_its_worker_info(persistent: bool) -> None:
    options: dict[str, Any] = {"num_workers": 3, "persistent_workers": persistent}
    ours, theirs = Loader(Shared(), 2, **options), DataLoader(Shared(), 2, **options)
    for _ in range(2):
        assert same(list(ours), list(theirs))
        assert get_worker_info() is None


def test_nothing_is_stacked_into_shared_memory() -> None:
    dataset = Returning(lambda _: torch.ones(5))
    assert not any(batch.is_shared() for batch in Loader(dataset, 2, num_workers=1))


def test_exceptions() -> None:
    with pytest.raises(ValueError, match="sample 5 is bad"):
        list(Loader(Failing("value"), 2, num_workers=2))


def test_timeout_and_init_function() -> None:
    started: list[int] = []
    release = threading.Event()
    loader = Loader(
        Returning(lambda _: release.wait()),
        2,
        num_workers=2,
        timeout=1,
        worker_init_fn=started.append,
    )
    batches = iter(loader)  # whose end waits for the threads
    try:
        with pytest.raises(RuntimeError, match="timed out"):
            next(batches)
    finally:
        release.set()
    assert sorted(started) == [0, 1]


def test_leaving_in_the_middle_ends_the_threads() -> None:
    batches = iter(Loader(Returning(sample, 100), 2, num_workers=2))
    next(batches)
    threads = list(batches._workers)
    del batches
    assert not any(thread.is_alive() for thread in threads)


def test_chosen_where_there_is_no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    loader = DataLoader(Returning(sample), 2, num_workers=1)
    assert type(make_iterator(loader)).__name__ == "ThreadIterator"
    loader = DataLoader(Returning(sample), 2, num_workers=1, multiprocessing_context="fork")
    assert type(make_iterator(loader)).__name__ == "WorkerIterator"


def test_unstarves_dataloader_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)

    def loader(kind: Any, **options: Any) -> Any:
        generator = torch.Generator().manual_seed(5)
        dataset = Returning(sample, 31)
        return kind(dataset, 4, shuffle=True, num_workers=2, generator=generator, **options)

    ours = loader(unstarve.DataLoader)
    assert "2 worker threads" in str(ours.explain())
    batches = list(ours)
    assert same(batches, list(loader(DataLoader)))
    processes = loader(unstarve.DataLoader, multiprocessing_context="fork")
    assert "2 worker processes" in str(processes.explain())

    first = loader(unstarve.DataLoader)
    beginning = iter(first)
    assert {type(worker).__name__ for worker in beginning._workers} == {"_Worker"}
    head = [next(beginning) for _ in range(3)]
    second = loader(unstarve.DataLoader)
    second.load_state_dict(first.state_dict())
    assert same(head + list(second), batches)


def test_data_pipes_keep_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)

    class Pipe(MapDataPipe):  # type: ignore[misc]
        def __getitem__(self, index: int) -> int:
            return index

    assert not prefers_threads(DataLoader(Pipe(), 2, num_workers=1))
    assert prefers_threads(DataLoader(Returning(sample), 2, num_workers=1))
