"""Batches of worker processes: the same as torch's, in every way that a job can see."""

from __future__ import annotations

import gc
import inspect
import os
import random
import statistics
import warnings
from multiprocessing import forkserver
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler
from torchvision import tv_tensors
from unstarve.workers import make_iterator
from unstarve.workers.channel import TaskReader, TaskWriter, make_pipe
from worker_data import (
    Faults,
    Mixed,
    Pair,
    Returning,
    Stream,
    as_list,
    one_of_each,
    same,
)

warnings.filterwarnings("ignore", message="This DataLoader will create", category=UserWarning)


class Loader(DataLoader):  # type: ignore[misc]
    """torch's loader on our workers."""

    def _get_iterator(self) -> Any:
        return make_iterator(self, threads=False)


def epochs(kind: Any, dataset: Any, count: int = 1, **options: Any) -> list[list[Any]]:
    """Whole epochs of one loader."""
    torch.manual_seed(7)
    np.random.seed(7)
    random.seed(7)
    loader = kind(dataset, **options)
    return [list(loader) for _ in range(count)]


def assert_as_torch(dataset: Any, count: int = 1, **options: Any) -> list[list[Any]]:
    expected = epochs(DataLoader, dataset, count, **options)
    found = epochs(Loader, dataset, count, **options)
    assert [len(epoch) for epoch in found] == [len(epoch) for epoch in expected]
    assert same(found, expected)
    return found


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("collate", [None, as_list, one_of_each])
def test_map_style(collate: Any, workers: int, persistent: bool) -> None:
    assert_as_torch(
        Mixed(),
        3 if persistent else 2,
        batch_size=5,
        shuffle=True,
        num_workers=workers,
        collate_fn=collate,
        persistent_workers=persistent,
    )


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("drop_last", [False, True])
def test_iterable(workers: int, drop_last: bool, persistent: bool) -> None:
    assert_as_torch(
        Stream(),
        2,
        batch_size=4,
        num_workers=workers,
        drop_last=drop_last,
        persistent_workers=persistent,
    )


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_start_methods(method: str) -> None:
    try:
        assert_as_torch(Mixed(), batch_size=5, num_workers=2, multiprocessing_context=method)
    finally:
        if method == "forkserver":  # it would live as long as this process
            forkserver._forkserver._stop()  # type: ignore[attr-defined]


def test_a_task_that_no_pipe_holds_comes_whole() -> None:
    reading, writing = make_pipe()
    tasks, worker = TaskWriter(writing), TaskReader(reading, os.getpid())
    indices = list(range(1_000_000))
    tasks.put(indices)
    tasks.put("the next one")
    assert worker.get(timeout=60) == indices
    assert worker.get(timeout=60) == "the next one"
    tasks.close()
    if worker._watch is not None and worker._watch.fd >= 0:
        os.close(worker._watch.fd)  # a worker has it to its end


def test_without_workers_it_is_torch() -> None:
    assert_as_torch(Mixed(), batch_size=5)


def test_unbatched_and_own_batches() -> None:
    assert_as_torch(Mixed(), batch_size=None, num_workers=2)
    assert_as_torch(Stream(), batch_size=None, num_workers=2)
    own = BatchSampler(SequentialSampler(range(23)), 6, drop_last=True)
    assert_as_torch(Mixed(), batch_sampler=own, num_workers=2)


needs_in_order = pytest.mark.skipif(
    "in_order" not in inspect.signature(DataLoader).parameters, reason="torch has it from 2.6 on"
)


@needs_in_order
def test_any_order_has_every_batch() -> None:
    def numbers(batches: list[Any]) -> list[int]:
        return sorted(int(number) for batch in batches for number in batch["number"])

    options = {"batch_size": 2, "num_workers": 3, "in_order": False}
    assert numbers(epochs(Loader, Mixed(), **options)[0]) == list(range(23))


def test_generator_and_init_function() -> None:
    def draw(worker: int) -> None:
        np.random.seed(worker)

    for kind in (DataLoader, Loader):
        generator = torch.Generator().manual_seed(3)
        loader = kind(
            Mixed(), 5, num_workers=2, shuffle=True, generator=generator, worker_init_fn=draw
        )
        batches = list(loader)
        state = generator.get_state()
        if kind is DataLoader:
            expected, expected_state = batches, state
    assert same(batches, expected)
    assert torch.equal(state, expected_state)


DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int16,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.complex64,
    torch.complex128,
    torch.float8_e4m3fn,
]


@pytest.mark.parametrize("size", [0, 1, 40_000])
def test_types_of_numbers(size: int) -> None:
    def make(index: int) -> Any:
        bits = torch.arange(size) % 2 + index
        return [bits.to(dtype) for dtype in DTYPES if dtype is not torch.float8_e4m3fn]

    assert_as_torch(Returning(make), batch_size=3, num_workers=2)
    assert_as_torch(Returning(make), batch_size=None, num_workers=1)


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a", "bc"]),
        np.array([None, 3], dtype=object),
        np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.float32(3),
        np.zeros((0, 4)),
        np.zeros(()),
        torch.tensor(3),
        torch.zeros(3, 0),
        torch.ones(20_000, requires_grad=True),
        torch.nn.Parameter(torch.ones(20_000), requires_grad=False),
        Pair("text", b"bytes"),
        {"set": {1, 2}, "none": None, "slice": slice(3)},
        bytearray(100_000),
        "x" * 100_000,
        torch.arange(40_000, dtype=torch.uint8).view(torch.float8_e4m3fn),
    ],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}",
)
def test_values(value: Any) -> None:
    dataset = Returning(lambda index: (index, value), 3)
    options: dict[str, Any] = {"num_workers": 1, "batch_size": None, "collate_fn": as_list}
    found, wanted = (epochs(kind, dataset, **options)[0] for kind in (Loader, DataLoader))
    if isinstance(value, torch.Tensor) and value.dtype is torch.float8_e4m3fn:
        found, wanted = ([each[1].view(torch.uint8) for each in list_] for list_ in (found, wanted))
    assert same(found, wanted)


def test_values_that_torch_changes_on_the_way() -> None:
    """It drops the byte order of arrays, and conjugation."""
    swapped: Any = np.arange(10_000, dtype=">i4")
    conjugate = torch.complex(torch.ones(9000), torch.ones(9000)).conj()
    sparse = torch.eye(100).to_sparse()
    dataset = Returning(lambda _: [swapped, conjugate, sparse], 2)
    options: dict[str, Any] = {"num_workers": 1, "batch_size": None, "collate_fn": as_list}
    for found in epochs(Loader, dataset, **options)[0]:
        assert same(found[0], swapped)
        assert torch.equal(found[1], conjugate)
        assert found[2].is_sparse and torch.equal(found[2].to_dense(), sparse.to_dense())


def test_subclasses_keep_their_class() -> None:
    boxes = tv_tensors.BoundingBoxes(torch.ones(4), format="XYXY", canvas_size=(5, 6))
    image = tv_tensors.Image(torch.ones(3, 100, 100))
    for batch in epochs(
        Loader,
        Returning(lambda _: [boxes, image]),
        1,
        num_workers=1,
        batch_size=None,
        collate_fn=as_list,
    )[0]:
        assert type(batch[0]) is tv_tensors.BoundingBoxes
        assert batch[0].canvas_size == (5, 6)
        assert type(batch[1]) is tv_tensors.Image
        assert torch.equal(batch[1], image)
    assert_as_torch(Returning(lambda _: image), batch_size=3, num_workers=1)


def test_batches_of_any_size() -> None:
    sizes = [10, 3_000_000, 200_000, 0, 9_000_000, 5, 5, 4_000_000]
    assert_as_torch(Returning(lambda i: torch.full((sizes[i],), i)), 2, batch_size=1, num_workers=2)


def test_kept_batches_stay_as_they_are() -> None:
    dataset = Returning(lambda i: torch.full((100_000,), float(i)), 60)
    loader = Loader(dataset, 2, num_workers=2, persistent_workers=True)
    kept = [batch for _ in range(2) for batch in loader]
    for number, batch in enumerate(kept):
        first = float(number % 30 * 2)
        assert (batch[0] == first).all() and (batch[1] == first + 1).all()


def test_batches_outlive_their_loader() -> None:
    dataset = Returning(lambda i: torch.full((100_000,), float(i)))
    batches = list(Loader(dataset, 2, num_workers=2))
    gc.collect()
    assert [float(batch[1, 5]) for batch in batches] == [1, 3, 5, 7]
    batches[0] += 1  # and they may be written to
    assert float(batches[0][0, 0]) == 1


def test_many_kept_batches_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    from unstarve.workers import iterator

    monkeypatch.setattr(iterator, "held_bytes_max", lambda: 3_000_000)
    dataset = Returning(lambda i: torch.full((100_000,), float(i)), 40)
    loader = Loader(dataset, 2, num_workers=1)
    results = iter(loader)
    kept = list(results)
    held = sum(reader.held_bytes for reader in results._worker_result_queue._slots)
    assert held < 3_000_000 + 2 * 1_000_000
    assert [float(batch[0, 0]) for batch in kept] == [2.0 * i for i in range(20)]


def test_a_collate_function_may_keep_what_it_made() -> None:
    made: list[Any] = []

    def collate(batch: list[Any]) -> Any:
        made.append(torch.utils.data.default_collate(batch))
        return made[0], made[-1]

    dataset = Returning(lambda i: torch.full((20_000,), float(i)), 20)
    for number, (first, last) in enumerate(Loader(dataset, 2, num_workers=1, collate_fn=collate)):
        assert float(first[0, 0]) == 0 and float(last[0, 0]) == 2 * number


def test_small_arrays_keep_no_slot() -> None:
    dataset = Returning(lambda i: (torch.zeros(100_000), i), 40)
    results = iter(Loader(dataset, 2, num_workers=1))
    labels = [batch[1] for batch in results]
    gc.collect()
    assert sum(reader.held_slots for reader in results._worker_result_queue._slots) == 0
    assert torch.equal(torch.cat(labels), torch.arange(40))


def test_large_index_lists() -> None:
    dataset = Returning(lambda i: i, 600_000)
    (found,) = epochs(Loader, dataset, batch_size=200_000, num_workers=2)
    assert torch.equal(torch.cat(found), torch.arange(600_000))


def test_a_worker_keeps_the_memory_of_its_arrays() -> None:
    """In the steady state few pages are faulted in; a sample's array has 768.

    Counted from a batch's first sample to its last, since a slot's pages are new to the batch that
    fills it first. The first half of the batches is passed over, while the heap grows.
    """
    batches = [count for _, count in Loader(Faults(), 16, num_workers=1)]
    a_batch = [int(count[-1] - count[0]) for count in batches[len(batches) // 2 :]]
    assert statistics.median(a_batch) / 16 < 100
