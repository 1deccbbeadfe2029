"""Single passes over a sampler, which note what it takes to make them again.

What an epoch iterates over holds no reference to the epoch: an epoch's list of indices goes with
its iterator, without waiting for the garbage collector.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from unstarve.order import sampler_state


def seeded_pass(sampler: Any, start: dict[str, Any], note: dict[str, Any]) -> Iterator[Any]:
    seed = start.get("seed")
    if seed is None:
        seed = int(torch.empty((), dtype=torch.int64).random_().item())
    note["seed"] = seed
    yield from sampler_state.seeded(sampler, seed)


def noting_default_generator(sampler: Any, note: dict[str, Any]) -> Iterator[Any]:
    """A sampler may draw in `iter()` or with the first item: both states are noted."""
    note["torch_at_iter"] = sampler_state.pack(torch.get_rng_state())
    return _noting_at_first_item(iter(sampler), note)


def _noting_at_first_item(items: Iterator[Any], note: dict[str, Any]) -> Iterator[Any]:
    note["torch"] = sampler_state.pack(torch.get_rng_state())
    if note["torch_at_iter"] == note["torch"]:
        del note["torch_at_iter"]
    yield from items


def drawn_again(sampler: Any, start: dict[str, Any], note: dict[str, Any]) -> Iterator[Any]:
    """The pass of which `start` was noted; torch's default generator stays as it is."""
    note.update((key, start[key]) for key in ("torch_at_iter", "torch") if key in start)
    at_iter = sampler_state.unpack(start.get("torch_at_iter", start["torch"]))
    with sampler_state.default_generator_at(at_iter):
        items = iter(sampler)
    return sampler_state.drawing_from(sampler_state.unpack(start["torch"]), items)


def flattened(skipped: list[Any]) -> list[Any]:
    """Of what an epoch was wound past, the samples: some samplers give batches of them."""
    try:
        iter(skipped[0])
    except (IndexError, TypeError):
        return skipped
    return list(itertools.chain.from_iterable(skipped))


def behind(items: Iterator[Any], count: int) -> Iterator[Any]:
    """What comes behind the first `count`, which are asked for with the first of it."""
    for _ in itertools.islice(items, count):
        pass
    yield from items


def length_of(sampler: Any) -> float:
    """Infinite where it has none, or none that Python could say."""
    try:
        return len(sampler)
    except Exception:
        return float("inf")


class Lazy:
    """In the place of a sampler: its pass is made when it is asked for, as torch's would be."""

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        return self._make()
