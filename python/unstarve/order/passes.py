"""Single passes over a sampler, which note what it takes to make them again.

What an epoch iterates over holds no reference to the epoch: an epoch's list of indices goes with
its iterator, without waiting for the garbage collector.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
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
    note["torch"] = sampler_state.pack(torch.get_rng_state())
    yield from sampler


def flattened(skipped: list[Any]) -> list[Any]:
    """Of what an epoch was wound past, the samples: some samplers give batches of them."""
    try:
        iter(skipped[0])
    except (IndexError, TypeError):
        return skipped
    return list(itertools.chain.from_iterable(skipped))


def length_of(sampler: Any) -> float:
    try:
        return len(sampler)
    except TypeError:
        return float("inf")


class Lazy:
    """An iterator in the place of a sampler."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return self._items
