"""States of loaders whose workers run Python: what was delivered, and what is drawn next."""

from __future__ import annotations

import inspect
import itertools
import json
import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils import data
from torch.utils.data.distributed import DistributedSampler
from unstarve import DataLoader
from unstarve.order.ranges import left_out, merged, rest_to_whole

COUNT = 24

needs_in_order = pytest.mark.skipif(
    "in_order" not in inspect.signature(data.DataLoader).parameters,
    reason="torch has it from 2.6 on",
)


def test_ranges_are_what_lists_of_positions_are() -> None:
    draw = random.Random(5)
    for _ in range(2000):
        begins = [draw.randrange(20) for _ in range(draw.randrange(5))]
        done = merged((begin, begin + draw.randrange(5)) for begin in begins)
        assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(done))
        behind = sorted({one for begin, end in done for one in range(begin, end)})
        rest = [one for one in range(60) if one not in behind]
        begin = draw.randrange(20)
        end = begin + draw.randrange(1, 8)
        whole = rest_to_whole(done, begin, end)
        assert [one for part in whole for one in range(*part)] == rest[begin:end]
        noted: list[int] = []
        assert list(left_out(iter(range(60)), done, noted)) == rest
        assert noted == behind


class Gated(data.Dataset):  # type: ignore[misc]
    """The sample 0 comes when the event is set: what is drawn before it comes after it."""

    def __init__(self, gate: Any) -> None:
        self.gate = gate

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> int:
        if index == 0:
            assert self.gate.wait(60)
        return index


class Stateful(data.Sampler):  # type: ignore[misc]
    """Goes on where it is."""

    at = 0

    def __init__(self, _data: Any = None) -> None:
        """Of 0..COUNT."""

    def __len__(self) -> int:
        return COUNT

    def __iter__(self) -> Iterator[int]:
        for number in range(self.at, COUNT):
            self.at = number + 1
            yield number
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


ORDERS: dict[str, Any] = {
    "sequential": lambda: {"batch_size": 2},
    "unbatched": lambda: {"batch_size": None},
    "stateful": lambda: {"batch_size": 2, "sampler": Stateful()},
    "own batches": lambda: {"batch_sampler": [[2 * i, 2 * i + 1] for i in range(COUNT // 2)]},
}


def flat(batches: Any) -> list[int]:
    return [index for batch in batches for index in torch.as_tensor(batch).reshape(-1).tolist()]


def loader_of(order: str, gate: Any, **named: Any) -> DataLoader[Any]:
    arguments = {"num_workers": 2, "in_order": False, "prefetch_factor": 2, **named}
    return DataLoader(Gated(gate), **ORDERS[order](), **arguments)


@needs_in_order
@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("order", sorted(ORDERS))
def test_what_came_out_of_order_does_not_come_again(
    order: str, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if threads:
        monkeypatch.setattr(
            "unstarve.dataloader.epoch_iterators.prefers_threads", lambda _loader: True
        )
    make_gate: Any = threading.Event if threads else torch.multiprocessing.Event
    gate = make_gate()
    loader = loader_of(order, gate)
    iterator = iter(loader)
    had = [next(iterator) for _ in range(4)]
    assert 0 not in flat(had), "or this tests nothing"
    state = json.loads(json.dumps(loader.state_dict()))
    gate.set()
    rest = sorted(flat(iterator))
    assert sorted(flat(had) + rest) == list(range(COUNT))

    # Out of order once more: 0 is the first that is missing.
    gate = make_gate()
    again = loader_of(order, gate)
    again.load_state_dict(state)
    iterator = iter(again)
    more = [next(iterator) for _ in range(2)]
    assert 0 not in flat(more)
    second = json.loads(json.dumps(again.state_dict()))
    gate.set()
    assert sorted(flat(more) + flat(iterator)) == rest

    # In order, and by another number of workers.
    last = loader_of(order, gate, in_order=True, num_workers=1)
    last.load_state_dict(second)
    left = flat(last)
    assert left == sorted(set(rest) - set(flat(more)))
    assert second["done"], "what is behind is more than a beginning"


@needs_in_order
def test_another_batch_size_leaves_out_the_same_samples() -> None:
    gate = torch.multiprocessing.Event()
    loader = loader_of("sequential", gate)
    iterator = iter(loader)
    had = flat(next(iterator) for _ in range(4))
    state = loader.state_dict()
    gate.set()
    other = DataLoader(Gated(gate), batch_size=5)
    other.load_state_dict(state)
    assert flat(other) == sorted(set(range(COUNT)) - set(had))


@needs_in_order
def test_ranks_cannot_be_changed_where_batches_came_out_of_order() -> None:
    gate = torch.multiprocessing.Event()

    def of_ranks(count: int) -> DataLoader[Any]:
        sampler = DistributedSampler(Gated(gate), count, 0, shuffle=False)
        named = {"num_workers": 2, "in_order": False}
        return DataLoader(Gated(gate), batch_size=2, sampler=sampler, **named)

    loader = of_ranks(2)
    iterator = iter(loader)
    had = flat(next(iterator) for _ in range(2))
    state = loader.state_dict()
    gate.set()
    same = of_ranks(2)
    same.load_state_dict(state)
    assert sorted(had + flat(same)) == list(range(0, COUNT, 2))
    other = of_ranks(1)
    other.load_state_dict(state)
    with pytest.raises(ValueError, match="out of order when the state was saved by 2 ranks"):
        iter(other)


class Failing(Gated):
    def __getitem__(self, index: int) -> int:
        if index in (4, 5, 14):
            raise KeyError(index)
        return index


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_that_raised_is_behind(workers: int) -> None:
    def make() -> DataLoader[Any]:
        return DataLoader(Failing(None), batch_size=1, sampler=range(2, 20), num_workers=workers)

    loader = make()
    iterator = iter(loader)
    had = []
    for _ in range(6):
        try:
            had += flat([next(iterator)])
        except KeyError:
            had.append(-1)
    assert had == [2, 3, -1, -1, 6, 7]
    again = make()
    again.load_state_dict(loader.state_dict())
    assert flat([next(iter(again))]) == [8]


class Drawing(data.Dataset):  # type: ignore[misc]
    """Each sample is what the three global generators give next."""

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        return index, random.random(), float(np.random.rand()), float(torch.rand(()))


class OwnDraws(Drawing):
    """Has a generator of its own, and says so."""

    def __init__(self) -> None:
        self.generator = random.Random(8)

    def __getitem__(self, index: int) -> Any:
        return index, self.generator.random()

    def state_dict(self) -> dict[str, Any]:
        version, words, gauss = self.generator.getstate()
        return {"generator": [version, list(words), gauss]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        version, words, gauss = state["generator"]
        self.generator.setstate((version, tuple(words), gauss))


class Numbers(data.IterableDataset):  # type: ignore[misc]
    """Each worker's share, with a draw; `kind` says what can save itself."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __iter__(self) -> Iterator[Any]:
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        items = _Numbers(first, step)
        return items if self.kind == "iterator" else iter([*items])


class _Numbers:
    def __init__(self, first: int, step: int) -> None:
        self.at, self.step = first, step

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        # The first worker has fewer: they end one after the other.
        if self.at >= (COUNT if self.at % self.step else COUNT // 2):
            raise StopIteration
        self.at += self.step
        return self.at, random.random()

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class Itself(data.IterableDataset):  # type: ignore[misc]
    """Its own iterator."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[Any]:
        self.at = 0
        return self

    def __next__(self) -> Any:
        if self.at >= COUNT:
            raise StopIteration
        self.at += 1
        return self.at, random.random()

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


DATA: dict[str, Any] = {
    "drawing": Drawing,
    "own draws": OwnDraws,
    "iterator": lambda: Numbers("iterator"),
    "no state": lambda: Numbers("none"),
    "itself": Itself,
}


def plain(batches: Any) -> list[Any]:
    return [[torch.as_tensor(part).tolist() for part in batch] for batch in batches]


def resumed_as_it_went_on(kind: str, epoch: int, at: int, **named: Any) -> None:
    arguments = {"batch_size": 2, "generator": torch.Generator(), **named}
    torch.manual_seed(4)
    loader = DataLoader(DATA[kind](), **arguments)
    for _ in range(epoch):
        list(loader)
    iterator = iter(loader)
    for _ in range(at):
        next(iterator)
    state = json.loads(json.dumps(loader.state_dict()))
    expected = plain(iterator)
    torch.manual_seed(5)
    random.seed(5)
    again = DataLoader(DATA[kind](), **{**arguments, "generator": torch.Generator()})
    again.load_state_dict(state)
    assert plain(again) == expected


@pytest.mark.parametrize("at", [1, 5])
@pytest.mark.parametrize("kind", sorted(DATA))
def test_workers_go_on_drawing(kind: str, at: int) -> None:
    resumed_as_it_went_on(kind, 0, at, num_workers=2)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", ["drawing", "own draws"])
def test_workers_that_live_on_go_on_drawing(kind: str, shuffle: bool) -> None:
    named = {"num_workers": 2, "persistent_workers": True, "shuffle": shuffle}
    resumed_as_it_went_on(kind, 1, 3, **named)
    resumed_as_it_went_on(kind, 1, 0, **named)


def test_other_start_methods_and_numbers_of_workers() -> None:
    resumed_as_it_went_on("iterator", 0, 3, num_workers=1, multiprocessing_context="spawn")
    resumed_as_it_went_on("own draws", 0, 3, num_workers=3)


@pytest.mark.parametrize("kind", ["own draws", "no state", "iterator", "itself"])
def test_without_workers_the_data_set_is_asked(kind: str) -> None:
    torch.manual_seed(1)
    loader = DataLoader(DATA[kind](), batch_size=2)
    iterator = iter(loader)
    for _ in range(3):
        next(iterator)
    state = loader.state_dict()
    expected = [batch[0].tolist() for batch in iterator]
    again = DataLoader(DATA[kind](), batch_size=2)
    again.load_state_dict(state)
    seen = [batch[0].tolist() for batch in again]
    assert seen == expected and expected


def test_states_of_workers_are_small_where_nothing_is_drawn() -> None:
    loader = DataLoader(Gated(None), batch_size=2, sampler=range(1, 20), num_workers=2)
    iterator = iter(loader)
    for _ in range(3):
        next(iterator)
    state = loader.state_dict()
    assert len(json.dumps(state)) < 700
    drawing = DataLoader(Drawing(), batch_size=2, num_workers=2)
    iterator = iter(drawing)
    next(iterator)
    assert len(json.dumps(drawing.state_dict())) < 20_000


def test_the_number_of_workers_of_a_stream_is_checked() -> None:
    loader = DataLoader(Numbers("iterator"), num_workers=2)
    next(iter(loader))
    other = DataLoader(Numbers("iterator"), num_workers=1)
    with pytest.raises(ValueError, match="resume with num_workers=2, not 1"):
        other.load_state_dict(loader.state_dict())
    # Any worker can load any sample: only what it would have drawn is lost.
    drawing = DataLoader(Drawing(), num_workers=2)
    next(iter(drawing))
    fewer = DataLoader(Drawing(), num_workers=1)
    fewer.load_state_dict(drawing.state_dict())
    assert [int(batch[0]) for batch in fewer] == list(range(1, COUNT))
