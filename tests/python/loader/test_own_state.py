"""A data set or a sampler with a `state_dict()` of its own, which torch's loader never calls."""

from __future__ import annotations

import itertools
import json
import random
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset, IterableDataset, Sampler, get_worker_info
from unstarve import DataLoader
from unstarve.own_state import Questions, can_say
from unstarve.workers import generators, places

COUNT = 40


class Takes:
    def load_state_dict(self, state: Any) -> None:
        """Whatever it is."""


class Plain(Takes):
    def state_dict(self, prefix: str = "") -> dict[str, Any]:
        return {}


class NeedsMore(Takes):
    def state_dict(self, num_samples: int, from_beginning: bool) -> dict[str, Any]:
        return {}


class Module(torch.nn.Module):  # type: ignore[misc]
    pass


class Halfway:
    state_dict = Plain.state_dict


def test_who_can_say() -> None:
    assert can_say(Plain())
    assert not any(map(can_say, [NeedsMore(), Module(), Halfway(), [], None]))


def test_dear_answers_are_seldom() -> None:
    clock = [100.0]
    answers = itertools.count()

    def say() -> int:
        clock[0] += 0.03
        return next(answers)

    questions = Questions(now=lambda: clock[0])
    found = []
    for _ in range(400):
        clock[0] += 0.1
        found.append(questions.ask(say))
    asked = sum(answer is not None for answer in found)
    assert 0.03 * asked == pytest.approx(0.05 + 0.02 * 40, rel=0.1)
    assert questions.ask(say, at_any_cost=True) is not None
    assert Questions(always=True, now=lambda: clock[0]).ask(say) is not None


def test_nobody_is_asked_again_who_raised() -> None:
    questions = Questions()
    assert questions.ask(lambda: 1 / 0) is None
    assert questions.ask(lambda: 1) is None
    assert questions.why_not == "its state_dict() raised ZeroDivisionError: division by zero"


class Numbers(Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> int:
        return index

    def load_state_dict(self, state: Any) -> None:
        """Whatever it is."""


class WithArguments(Numbers):
    def state_dict(self, num_samples: int) -> dict[str, Any]:
        return {}


class Raising(Numbers):
    def state_dict(self) -> dict[str, Any]:
        raise NotImplementedError("call prepare() first")


class NotPickled(Numbers):
    def state_dict(self) -> dict[str, Any]:
        return {"function": lambda: 0}


class Large(Numbers):
    def state_dict(self) -> dict[str, Any]:
        return {"data": bytes(2 << 20)}


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", [WithArguments, Raising, NotPickled, Large])
def test_a_job_that_wants_no_state_notices_nothing(kind: Any, workers: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(DataLoader(kind(), batch_size=10, num_workers=workers))
    assert torch.cat(found).tolist() == list(range(COUNT))


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Raising, "NotImplementedError: call prepare"),
        (NotPickled, "can't|Can't pickle|annot pickle"),
        (Large, "bytes are kept only where the loader's state was asked for"),
    ],
)
def test_who_wants_it_is_told_what_it_is_without(kind: Any, why: str, workers: int) -> None:
    loader = DataLoader(kind(), batch_size=10, num_workers=workers)
    batches = iter(loader)
    next(batches)
    if workers == 0 and kind is Large:  # it is asked when it is wanted
        assert len(loader.state_dict()["workers"]["states"][0]["dataset"]["data"]) == 2 << 20
        return
    with pytest.warns(UserWarning, match=f"without that of the data set: .*({why})") as said:
        state = loader.state_dict()
    assert said[0].filename == __file__
    again = DataLoader(kind(), batch_size=10, num_workers=workers)
    again.load_state_dict(json.loads(json.dumps(state)))
    assert torch.cat(list(again)).tolist() == list(range(10, COUNT))


def test_what_was_asked_for_before_is_there_however_large() -> None:
    loader = DataLoader(Large(), batch_size=10, num_workers=1)
    loader.state_dict()
    batches = iter(loader)
    next(batches)
    (worker,) = loader.state_dict()["workers"]["states"]
    assert len(worker["dataset"]["data"]) == 2 << 20


class Slow(IterableDataset):  # type: ignore[misc]
    """A sample is how often it was asked for its state; which takes longer than a batch."""

    def __init__(self) -> None:
        self.at = self.asked = 0

    def __iter__(self) -> Iterator[Any]:
        while self.at < COUNT:
            self.at += 1
            yield self.at, self.asked

    def state_dict(self) -> dict[str, int]:
        self.asked += 1
        time.sleep(0.03)
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


@pytest.mark.parametrize("taken", [1, 7, 15])
def test_a_slow_one_is_asked_seldom_and_resumed_exactly(taken: int) -> None:
    loader = DataLoader(Slow(), batch_size=2, num_workers=1)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    state = json.loads(json.dumps(loader.state_dict()))
    rest = list(batches)
    assert int(rest[-1][1][-1]) < 10, "of 20 batches"
    again = DataLoader(Slow(), batch_size=2, num_workers=1)
    again.load_state_dict(state)
    found = list(again)
    assert [b[0].tolist() for b in found] == [b[0].tolist() for b in rest]
    assert int(found[-1][1][-1]) >= len(found) - 1, "each state counts where one was wanted"


class Uneven(IterableDataset):  # type: ignore[misc]
    """The first worker has 1 sample, every other 6; at its end it is where it began."""

    def __init__(self) -> None:
        self.count, self.at = 6, 0

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        if info is not None and info.id == 0:
            self.count = 1
        while self.at < self.count:
            self.at += 1
            yield self.at - 1
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


@pytest.mark.parametrize(
    ("workers", "size", "taken"), [(0, 4, 1), (0, 4, 2), (2, 2, 1), (2, 2, 2), (2, 2, 3), (2, 2, 4)]
)
def test_what_ended_within_a_batch_is_not_read_again(workers: int, size: int, taken: int) -> None:
    whole, first, again = (DataLoader(Uneven(), size, num_workers=workers) for _ in range(3))
    batches = iter(first)
    for _ in range(taken):
        next(batches)
    again.load_state_dict(json.loads(json.dumps(first.state_dict())))
    rest = [batch.tolist() for batch in whole][taken:]
    assert [batch.tolist() for batch in again] == rest


class Order(Sampler[int]):  # type: ignore[misc]
    """Goes through the numbers from where it is; `slow` to say so, or `broken`."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.at = self.asked = 0

    def __len__(self) -> int:
        return COUNT

    def __iter__(self) -> Iterator[int]:
        while self.at < COUNT:
            self.at += 1
            yield self.at - 1
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        self.asked += 1
        if self.how == "broken":
            raise RuntimeError("call prepare() first")
        time.sleep(0.03)
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class StepWanted(Order):
    def state_dict(self, step: int) -> dict[str, int]:  # type: ignore[override]
        raise AssertionError(step)


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("taken", [1, 7, 15])
def test_a_slow_sampler_is_asked_seldom_and_resumed_exactly(taken: int, workers: int) -> None:
    loader = DataLoader(Numbers(), 2, sampler=Order("slow"), num_workers=workers)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    state = json.loads(json.dumps(loader.state_dict()))
    rest = torch.cat(list(batches)).tolist()
    assert loader.sampler.asked < 10, "for 20 batches"
    again = DataLoader(Numbers(), 2, sampler=Order("slow"), num_workers=workers)
    again.load_state_dict(state)
    batches = iter(again)
    first = next(batches)
    second = json.loads(json.dumps(again.state_dict()))
    assert torch.cat([first, *batches]).tolist() == rest
    last = DataLoader(Numbers(), 2, sampler=Order("slow"), num_workers=workers)
    last.load_state_dict(second)
    assert torch.cat(list(last)).tolist() == rest[2:]


def test_samplers_that_cannot_say_give_their_order_all_the_same() -> None:
    assert torch.cat(list(DataLoader(Numbers(), 4, sampler=StepWanted("")))).tolist() == [
        *range(COUNT)
    ]
    loader = DataLoader(Numbers(), 4, sampler=Order("broken"))
    batches = iter(loader)
    next(batches)
    with pytest.warns(UserWarning, match="without that of the sampler: .*call prepare"):
        state = loader.state_dict()
    assert loader.sampler.asked == 1
    again = DataLoader(Numbers(), 4, sampler=Order("broken"))
    again.load_state_dict(state)
    assert torch.cat(list(again)).tolist() == list(range(4, COUNT))


class Drawn(Numbers):
    def __getitem__(self, index: int) -> Any:
        return index, random.random()


def as_plain(batches: Any) -> list[Any]:
    return [[part.tolist() for part in batch] for batch in batches]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_noted_state_is_made_when_it_is_wanted(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches that go to a device ahead of the loop have one noted each."""
    loader = DataLoader(Drawn(), 4, shuffle=True, num_workers=workers)
    batches = iter(loader)
    made: list[Any] = []

    def to_plain(note: Any) -> Any:
        made.append(note)
        return generators.to_plain(note)

    monkeypatch.setattr(places, "to_plain", to_plain)
    had, noted = [], []
    for batch in batches:
        had.append(batch)
        noted.append(loader._unstarve_noted_state())
    assert not made, "the generators of workers are kilobytes that nobody has asked for"
    state = noted[2]()
    again = DataLoader(Drawn(), 4, shuffle=True, num_workers=workers)
    again.load_state_dict(json.loads(json.dumps(state)))
    found, right = as_plain(again), as_plain(had[3:])
    if workers == 0:  # the generators are the script's own to keep
        found, right = [numbers for numbers, _ in found], [numbers for numbers, _ in right]
    assert found == right
