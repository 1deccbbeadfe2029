"""Samplers of a job's own are asked as torch asks them: as often, at the same time, for no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import BatchSampler, Sampler
from torch.utils.data import DataLoader as TorchLoader
from unstarve import DataLoader

NUMBERS = list(range(12))


class Numbered(Sampler[int]):  # type: ignore[misc]
    """Seeds itself with the number of the pass, when it is asked for one."""

    def __init__(self) -> None:
        self.passes = 0

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.passes)
        self.passes += 1
        return iter(torch.randperm(12, generator=generator).tolist())

    def __len__(self) -> int:
        return 12


class Eager(Sampler[int]):  # type: ignore[misc]
    """Draws as soon as it is asked."""

    def __iter__(self) -> Iterator[int]:
        return iter(torch.randperm(12).tolist())

    def __len__(self) -> int:
        return 12


class EagerBatches(Eager):
    def __iter__(self) -> Any:
        order = torch.randperm(12).tolist()
        return iter([order[at : at + 4] for at in range(0, 12, 4)])


OPTIONS: dict[str, Any] = {
    "single": lambda: {"sampler": Numbered(), "batch_size": None},
    "batched": lambda: {"sampler": Numbered(), "batch_size": 4},
    "eager": lambda: {"sampler": Eager(), "batch_size": None},
    "eager, batched": lambda: {"sampler": Eager(), "batch_size": 4},
    "eager batches": lambda: {"batch_sampler": EagerBatches()},
    "batches of eager ones": lambda: {"batch_sampler": BatchSampler(Eager(), 5, False)},
}


def as_numbers(batch: Any) -> Any:
    return batch.tolist() if isinstance(batch, torch.Tensor) else batch


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("name", OPTIONS)
def test_the_order_is_torchs(name: str, workers: int) -> None:
    found = []
    for kind in (TorchLoader, DataLoader):
        torch.manual_seed(0)
        loader = kind(NUMBERS, num_workers=workers, **OPTIONS[name]())
        epochs = [[as_numbers(batch) for batch in loader] for _ in range(2)]
        found.append((epochs, torch.rand(1).item()))
    assert found[0] == found[1]


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_resumed_epoch_goes_on_in_that_order(name: str, workers: int) -> None:
    torch.manual_seed(0)
    first = DataLoader(NUMBERS, num_workers=workers, **OPTIONS[name]())
    batches = iter(first)
    next(batches)
    state = first.state_dict()
    rest = [as_numbers(batch) for batch in batches]
    torch.manual_seed(1)
    again = DataLoader(NUMBERS, num_workers=workers, **OPTIONS[name]())
    again.load_state_dict(state)
    assert [as_numbers(batch) for batch in again] == rest


class Endless(Sampler[int]):  # type: ignore[misc]
    def __iter__(self) -> Iterator[int]:
        while True:
            yield from range(12)

    def __len__(self) -> int:
        raise NotImplementedError("it has no end")


class Huge(Endless):
    def __len__(self) -> int:
        return 1 << 70


class Counting(Eager):
    asked = 0

    def __len__(self) -> int:
        Counting.asked += 1
        return 12


@pytest.mark.parametrize("sampler", [np.arange(12), torch.arange(12), NUMBERS, range(12)])
def test_any_iterable_is_a_sampler(sampler: Any) -> None:
    loader = DataLoader(NUMBERS, 4, sampler=sampler)
    batches = iter(loader)
    first = next(batches)
    state = loader.state_dict()
    assert torch.cat([first, *batches]).tolist() == NUMBERS
    again = DataLoader(NUMBERS, 4, sampler=sampler)
    again.load_state_dict(state)
    assert torch.cat(list(again)).tolist() == NUMBERS[4:]


@pytest.mark.parametrize("kind", [Endless, Huge])
@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: BatchSampler(one, 4, True)])
def test_a_sampler_need_not_know_its_length(kind: Any, wrap: Any) -> None:
    sampler = wrap(kind())
    name = "batch_sampler" if type(sampler) is BatchSampler else "sampler"
    loader = DataLoader(NUMBERS, **{name: sampler})
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    assert loader.state_dict()["batches"] == 3


def test_nobody_asks_for_a_length_more_often_than_torch() -> None:
    asked = []
    for kind in (TorchLoader, DataLoader):
        loader = kind(NUMBERS, batch_sampler=BatchSampler(Counting(), 5, False))
        Counting.asked = 0
        list(loader)
        asked.append(Counting.asked)
    assert asked[1] <= asked[0]


class Filled(Sampler[int]):  # type: ignore[misc]
    """Empty until it is asked for its first pass."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.epoch = 0
        self.generator = torch.Generator().manual_seed(0)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        self.order = torch.randperm(12, generator=self.generator).tolist()
        return iter(self.order)

    def __len__(self) -> int:
        return len(self.order)


def test_an_empty_sampler_is_one() -> None:
    sampler = Filled()
    loader = DataLoader(NUMBERS, 4, sampler=sampler)
    loader.set_epoch(3)
    assert sampler.epoch == 3
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    rest = [batch.tolist() for batch in batches]
    again = DataLoader(NUMBERS, 4, sampler=Filled())
    again.load_state_dict(state)
    assert [batch.tolist() for batch in again] == rest
