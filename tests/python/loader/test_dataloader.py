"""unstarve.DataLoader beside torch's: the same arguments, errors, orders and batches."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils import data
from torch.utils.data.distributed import DistributedSampler
from unstarve import DataLoader


class Squares(data.Dataset):  # type: ignore[misc]
    """A data set that only Python can load."""

    def __init__(self, count: int = 10) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if index >= 100:
            raise KeyError(index)
        return torch.tensor(index * index), index


class Stream(data.IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Iterator[int]:
        return iter(range(7))


class Forever(data.Sampler):  # type: ignore[misc]
    """Each index again and again, drawn from torch's generator one by one."""

    def __iter__(self) -> Iterator[int]:
        while True:
            yield int(torch.randint(10, (1,)))


class Own(data.Sampler):  # type: ignore[misc]
    """Saves and restores itself."""

    def __init__(self, count: int = 10) -> None:
        self.count, self.at = count, 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        while self.at < self.count:
            self.at += 1
            yield self.count - self.at
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def outcome(make: Any) -> Any:
    """The exception's type and text, or the batches of two epochs."""
    torch.manual_seed(3)
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            loader = make()
            batches = [batch for _ in range(2) for batch in loader]
            # Only torch forks where Python runs without the interpreter lock, and is warned then.
            texts = {str(warning.message) for warning in seen}
            return repr(batches), sorted(text for text in texts if "use of fork()" not in text)
    except Exception as error:
        return type(error), str(error).replace("_InThisProcess", "_SingleProcessDataLoaderIter")


def generator() -> Any:
    return torch.Generator().manual_seed(11)


SQUARES = Squares()
SEQUENCE = data.SequentialSampler(SQUARES)

ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"batch_size": 3},
    {"batch_size": 3, "shuffle": True},
    {"batch_size": 3, "drop_last": True, "shuffle": True},
    {"batch_size": None},
    {"batch_size": None, "shuffle": True},
    {"batch_size": None, "drop_last": True},
    {"batch_size": 0},
    {"batch_size": -1},
    {"batch_size": 2.5},
    {"batch_size": True},
    {"drop_last": 1},
    {"num_workers": -1},
    {"timeout": -1},
    {"timeout": 1},
    {"prefetch_factor": 2},
    {"prefetch_factor": -2, "num_workers": 1},
    {"persistent_workers": True},
    {"sampler": SEQUENCE, "shuffle": True},
    {"sampler": SEQUENCE, "batch_size": 4},
    {"sampler": [3, 1, 2]},
    {"sampler": [3, 1, 200]},
    {"sampler": 5},
    {"batch_sampler": [[1, 2], [3], [4, 5, 6]]},
    {"batch_sampler": [[1, 2], []]},
    {"batch_sampler": [[1]], "batch_size": 2},
    {"batch_sampler": [[1]], "shuffle": True},
    {"batch_sampler": [[1]], "sampler": SEQUENCE},
    {"batch_sampler": [[1]], "drop_last": True},
    {"multiprocessing_context": "fork"},
    {"multiprocessing_context": "no such", "num_workers": 1},
    {"multiprocessing_context": 5, "num_workers": 1},
    {"collate_fn": tuple, "batch_size": 2},
    {"collate_fn": 5, "batch_size": 2},
    {"pin_memory": True, "batch_size": 5},
    {"shuffle": True, "generator": 5},
    {"unknown": 1},
    {"dataset": Squares(0), "shuffle": True},
    {"dataset": Squares(0)},
    {"dataset": [1, 2, 3], "batch_size": 2},
    {"dataset": Stream(), "batch_size": 3},
    {"dataset": Stream(), "shuffle": True},
    {"dataset": Stream(), "sampler": SEQUENCE},
    {"dataset": Stream(), "batch_sampler": [[1]]},
    {"batch_size": 4, "num_workers": 2, "shuffle": True, "prefetch_factor": 1},
    {"batch_size": 4, "num_workers": 1, "persistent_workers": True, "shuffle": True},
    {"batch_size": 4, "num_workers": 1, "timeout": 60, "in_order": False},
]


def _without_addresses(arguments: dict[str, Any]) -> str:
    """The same in each process, so that several can share the tests."""
    return re.sub(r" object at 0x[0-9a-f]+", "", str(arguments))


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=_without_addresses)
def test_arguments_mean_what_they_mean_to_torch(arguments: dict[str, Any]) -> None:
    given = {"dataset": SQUARES, **arguments}
    expected = outcome(lambda: data.DataLoader(**given))
    assert outcome(lambda: DataLoader(**given)) == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_a_generator_decides_the_order_as_in_torch(workers: int) -> None:
    arguments: dict[str, Any] = {"batch_size": 3, "shuffle": True, "num_workers": workers}
    theirs = outcome(lambda: data.DataLoader(SQUARES, generator=generator(), **arguments))
    assert outcome(lambda: DataLoader(SQUARES, generator=generator(), **arguments)) == theirs


def test_it_is_a_torch_loader_with_its_attributes() -> None:
    loader = DataLoader(SQUARES, 3, drop_last=True, shuffle=True)
    assert isinstance(loader, data.DataLoader)
    assert (loader.batch_size, loader.drop_last, len(loader)) == (3, True, 3)
    assert isinstance(loader.sampler, data.RandomSampler)
    assert isinstance(loader.batch_sampler, data.BatchSampler)
    with pytest.raises(ValueError, match="should not be set after DataLoader is initialized"):
        loader.batch_size = 4


def test_nested_loops_are_independent() -> None:
    loader = DataLoader(SQUARES, 5)
    seen = [(a[1].tolist()[0], b[1].tolist()[0]) for a in loader for b in loader]
    assert seen == [(0, 0), (0, 5), (5, 0), (5, 5)]


def test_copies_and_pickles_start_afresh() -> None:
    loader = DataLoader(SQUARES, 4)
    next(iter(loader))
    for other in (copy.deepcopy(loader), pickle.loads(pickle.dumps(loader))):
        assert [batch[1].tolist() for batch in other] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_an_exception_of_the_data_set_comes_through() -> None:
    for workers in (0, 1):
        loader = DataLoader(SQUARES, sampler=[1, 100], num_workers=workers)
        with pytest.raises(KeyError):
            list(loader)


def indices(batches: Any) -> list[Any]:
    return [torch.as_tensor(batch[1]).tolist() for batch in batches]


LOADERS: dict[str, Any] = {
    "sequential": lambda **a: DataLoader(Squares(), 3, **a),
    "shuffled": lambda **a: DataLoader(Squares(), 3, shuffle=True, **a),
    "generator": lambda **a: DataLoader(Squares(), 3, shuffle=True, generator=generator(), **a),
    "drop_last": lambda **a: DataLoader(Squares(), 3, shuffle=True, drop_last=True, **a),
    "one by one": lambda **a: DataLoader(Squares(), batch_size=None, shuffle=True, **a),
    "weighted": lambda **a: DataLoader(
        Squares(), 3, sampler=data.WeightedRandomSampler([1.0] * 9 + [5.0], 10), **a
    ),
    "subset sampler with a generator": lambda **a: DataLoader(
        Squares(), 3, sampler=data.SubsetRandomSampler(range(8), generator=generator()), **a
    ),
    "distributed": lambda **a: DataLoader(
        Squares(), 2, sampler=DistributedSampler(range(10), 2, 1, seed=5), **a
    ),
    "a list of batches": lambda **a: DataLoader(Squares(), batch_sampler=[[1, 2], [5], [3]], **a),
    "stateful": lambda **a: DataLoader(Squares(), 3, sampler=Own(), **a),
    "without end": lambda **a: DataLoader(Squares(), 3, sampler=Forever(), **a),
}


def rest_of(loader: Any, limit: int = 6) -> list[Any]:
    return indices(batch for _, batch in zip(range(limit), loader, strict=False))


@pytest.mark.parametrize("kind", LOADERS)
def test_a_state_continues_the_epoch(kind: str) -> None:
    """Saved behind every batch, resumed with another number of workers and other seeds."""
    torch.manual_seed(1)
    loader = LOADERS[kind]()
    if kind == "distributed":
        loader.set_epoch(4)
    states, seen = [loader.state_dict()], []
    for batch in loader:
        seen += indices([batch])
        states.append(pickle.loads(pickle.dumps(loader.state_dict())))
        if len(seen) == 6:
            break
    begun = states[1:] if len(seen) == 6 else states[1:-1]  # the last one is the next epoch's
    for taken, state in enumerate(begun, start=1):
        torch.manual_seed(100 + taken)
        other = LOADERS[kind](num_workers=taken % 2)
        other.load_state_dict(state)
        assert other.state_dict() == state
        assert rest_of(other, len(seen) - taken) == seen[taken:], taken


@pytest.mark.parametrize("kind", ["sequential", "generator", "distributed", "stateful"])
def test_the_state_after_an_epoch_begins_the_next(kind: str) -> None:
    loader = LOADERS[kind]()
    in_the_loop: Any = None
    for _ in loader:
        in_the_loop = loader.state_dict()
    end = loader.state_dict()
    assert in_the_loop == end
    second = indices(loader)
    assert second
    other = LOADERS[kind]()
    other.load_state_dict(end)
    assert other.state_dict() == end
    iter(other)  # a trainer may begin twice
    assert indices(other) == second
    assert other.state_dict() == loader.state_dict()


def test_later_epochs_of_a_resumed_loader_follow_the_generator() -> None:
    loader = LOADERS["generator"]()
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    expected = indices(iterator) + indices(loader) + indices(loader)
    other = LOADERS["generator"]()
    other.load_state_dict(state)
    assert [batch for _ in range(3) for batch in indices(other)] == expected


def test_states_are_small_and_plain() -> None:
    import json

    for kind, make in LOADERS.items():
        loader = make()
        next(iter(loader))
        size = len(json.dumps(loader.state_dict()))
        draws = kind in ("generator", "weighted", "subset sampler with a generator", "without end")
        assert size < (4500 if draws else 400), (kind, size)


def test_another_batch_size_and_world_size() -> None:
    def make(batch: int, ranks: int, rank: int) -> Any:
        sampler = DistributedSampler(range(24), ranks, rank, seed=5)
        return DataLoader(Squares(24), batch, sampler=sampler)

    states, seen = [], []
    for rank in range(2):
        loader = make(2, 2, rank)
        iterator = iter(loader)
        for _ in range(3):
            seen += indices([next(iterator)])[0]
        states.append(loader.state_dict())
    for ranks in (1, 3, 4):
        rest = []
        for rank in range(ranks):
            other = make(4, ranks, rank)
            other.load_state_dict(states[0])
            rest += [index for batch in indices(other) for index in batch]
        assert sorted(seen + rest) == list(range(24)), ranks
    uneven = make(4, 5, 0)
    uneven.load_state_dict(states[1])
    with pytest.raises(ValueError, match="5 ranks"):
        iter(uneven)


def test_states_of_others_are_refused() -> None:
    loader = LOADERS["shuffled"]()
    for state in ({}, {"_num_yielded": 3}, [1]):
        with pytest.raises(ValueError, match="not a state"):
            loader.load_state_dict(state)
    plain = LOADERS["shuffled"]()
    plain.load_state_dict(LOADERS["generator"]().state_dict())
    with pytest.raises(ValueError, match="generators"):
        iter(plain)
    with pytest.raises(ValueError, match="IterableDataset"):
        plain.load_state_dict(DataLoader(Stream()).state_dict())
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(Stream()).load_state_dict(LOADERS["shuffled"]().state_dict())


def test_set_epoch_reaches_the_sampler() -> None:
    loader = LOADERS["distributed"]()
    loader.set_epoch(7)
    assert loader.sampler.epoch == 7
    seventh = indices(loader)
    loader.set_epoch(8)
    assert indices(loader) != seventh


def test_explain_says_what_stays_python() -> None:
    explanation = DataLoader(SQUARES, 2).explain()
    assert explanation.engine == "torch"
    assert "not a torchvision" in explanation.reason
    assert "data set Squares" in str(explanation)
    assert explanation.to_dict()["parts"][1]["native"] is False
    assert "IterableDataset" in str(DataLoader(Stream()).explain())
    assert DataLoader(SQUARES).stats() == {}
