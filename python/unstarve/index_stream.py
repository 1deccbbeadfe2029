"""Which samples make up each batch of an epoch, and how to find the place again after a restart.

A loader's sampler is asked exactly as torch asks it, so the order is torch's own for the same
seeds. Beside it is kept what it takes to ask again (`sampler_state`), and how many batches the
consumer has been given. To resume, the stream of indices is wound forward; no sample is loaded.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler
from torch.utils.data.distributed import DistributedSampler

from unstarve import sampler_state
from unstarve.errors import InvalidArgumentError

FORMAT = "unstarve.DataLoader/1"


class IndexStream:
    """The batches of indices of one loader; `iter()` begins an epoch.

    It stands where torch's iterators expect a sampler, so that all of them, whatever loads the
    samples, are resumed in the same way.
    """

    def __init__(self, sampler: Any, generator: Any) -> None:
        self.sampler = sampler
        self.generator = generator
        self._next_epoch = 0
        self._epoch: Epoch | None = None  # the latest
        self._resume: dict[str, Any] | None = None
        self._again: Epoch | None = None

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Epoch:
        if self._again is not None:
            epoch, self._again = self._again, None
            return epoch
        if self._resume is not None:
            # It counts until a batch is taken: some trainers call iter() twice.
            sampler_state.restore(self._resume["start"], self.sampler, self.generator)
            self._next_epoch = self._resume["epoch"]
        self._epoch = Epoch(self, self._next_epoch, self._resume)
        self._next_epoch += 1
        return self._epoch

    def with_sampler(self, sampler: Any) -> IndexStream:
        """The same place in the sequence of epochs, with the order of another sampler."""
        other = IndexStream(sampler, self.generator)
        other._next_epoch, other._resume = self._next_epoch, self._resume
        other._epoch = self._epoch  # until it is over, a state is of this one
        if other._epoch is not None:
            other._epoch.belongs_to(other)
        return other

    def taken_from(self, epoch: Epoch) -> None:
        """The consumer has something of this epoch, which a restart may have begun."""
        if epoch is self._epoch:
            self._resume = None

    def begin_once(self, epoch: Epoch) -> None:
        """The next `iter()` means this epoch, which it has begun already: torch's iterator with
        workers asks twice."""
        self._again = epoch

    def set_epoch(self, epoch: int) -> None:
        """The number of the epoch that the next `iter()` begins; samplers are told as well."""
        self._next_epoch = epoch
        for sampler in sampler_state.chain(self.sampler):
            if hasattr(sampler, "set_epoch"):
                sampler.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the consumer is (not how far loading has got ahead of it), in plain values."""
        if self._resume is not None:
            return dict(self._resume)
        if self._epoch is not None and not self._epoch.is_over():
            return self._epoch.state_dict()
        return {
            "format": FORMAT,
            "epoch": self._next_epoch,
            "batches": 0,
            "samples": 0,
            "draw_seed": None,
            "start": sampler_state.capture(self.sampler, self.generator, within_epoch=False),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next `iter()` goes on from there."""
        found = state.get("format") if isinstance(state, dict) else type(state).__name__
        if found != FORMAT:
            raise InvalidArgumentError(
                f"not a state of unstarve.DataLoader: its format is {found!r}, not {FORMAT!r}"
            )
        self._resume = dict(state)
        self._next_epoch = state["epoch"]


class Epoch:
    """One pass over the sampler: an iterator over batches of indices.

    Whoever loads the batches reports each one that the consumer gets with `delivered()`, and the
    end with `finish()`.
    """

    def __init__(self, stream: IndexStream, number: int, resumed: dict[str, Any] | None) -> None:
        self._stream = stream
        self._sampler = stream.sampler
        self.number = number
        self._finished = False
        self._exhausted = False
        self._ahead: deque[Any] = deque()  # drawn only to see whether there is more
        self._start = sampler_state.capture(stream.sampler, stream.generator, within_epoch=True)
        self._stateful = sampler_state.stateful(stream.sampler)
        self._states: deque[Any] = deque()  # a stateful sampler's, per batch under way
        #: What the stream was wound past, known once the first batch has been drawn: indices where
        #: torch forms the batches, else what the sampler gave.
        self.skipped: list[Any] = []
        self.batches = 0 if resumed is None else int(resumed["batches"])
        self._drawn = self.batches
        self._samples = 0 if resumed is None else int(resumed["samples"])
        self._draw_seed: int | None = None if resumed is None else resumed["draw_seed"]
        self._indices = self._draw(self._sampler, {}) if resumed is None else self._rest(resumed)

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        batch = self._ahead.popleft() if self._ahead else self._draw_one()
        self._drawn += 1
        return batch

    def _draw_one(self) -> Any:
        try:
            batch = next(self._indices)
        except StopIteration:
            self._exhausted = True
            raise
        if self._stateful is not None:
            self._states.append(self._stateful.state_dict())
        return batch

    def is_over(self) -> bool:
        """The consumer has all of it, whether or not it has asked for more in vain."""
        if self._finished or self.batches < self._drawn or self._ahead:
            return self._finished
        if not self._exhausted and self._drawn >= _length(self._sampler):
            # Only the sampler knows; it may draw random numbers at its end, which must have
            # happened before its generator's state is that of the next epoch.
            try:
                self._ahead.append(self._draw_one())
            except StopIteration:
                pass
        return self._exhausted

    def belongs_to(self, stream: IndexStream) -> None:
        """Another sampler gives the order of the epochs behind."""
        self._stream = stream

    def draw_seed(self, fresh: int) -> int:
        """The seed of the epoch's random transforms: `fresh`, or the one before the restart."""
        if self._draw_seed is None:
            self._draw_seed = fresh
        return self._draw_seed

    def delivered(self) -> None:
        """The consumer has one batch more."""
        self._stream.taken_from(self)
        self.batches += 1
        if type(self._sampler) is BatchSampler:
            self._samples += self._sampler.batch_size
        if self._states:
            self._start["sampler"] = self._states.popleft()

    def finish(self) -> None:
        """The consumer has been told that the epoch is over."""
        self._stream.taken_from(self)
        self._finished = True

    def state_dict(self) -> dict[str, Any]:
        state = {
            "format": FORMAT,
            "epoch": self.number,
            "batches": self.batches,
            "samples": self._samples,
            "draw_seed": self._draw_seed,
            "start": dict(self._start),
        }
        inner = getattr(self._sampler, "sampler", None)
        if isinstance(inner, DistributedSampler):
            state["world_size"] = inner.num_replicas
        return state

    def _draw(self, sampler: Any, start: dict[str, Any]) -> Iterator[Any]:
        """One pass over a sampler. The first draw happens with the first `next()`, as in torch."""
        if type(sampler) is BatchSampler:
            samples = _Lazy(self._draw(sampler.sampler, start))
            return iter(BatchSampler(samples, sampler.batch_size, sampler.drop_last))
        if sampler_state.seeds_itself(sampler):
            return _seeded(sampler, start, self._start)
        if sampler_state.needs_nothing(sampler) or sampler_state.generators(sampler, None):
            return iter(sampler)
        if self._stateful is not None:
            return iter(sampler)
        if "torch" in start:
            self._start["torch"] = start["torch"]
            state = sampler_state.unpack(start["torch"])
            return sampler_state.drawing_from(state, iter(sampler))
        return _noting_default_generator(sampler, self._start)

    def _rest(self, state: dict[str, Any]) -> Iterator[Any]:
        """What is left of the epoch that `state` was saved in."""
        for key in ("seed", "torch"):
            if key in state["start"]:
                self._start[key] = state["start"][key]
        if self._stateful is not None:
            return iter(self._sampler)  # it was restored to where the consumer was
        if type(self._sampler) is BatchSampler:
            done = self._samples_done(state)
            samples = self._draw(self._sampler.sampler, state["start"])
            rest = _Lazy(_after(samples, done, self.skipped))
            return iter(BatchSampler(rest, self._sampler.batch_size, self._sampler.drop_last))
        return _after(self._draw(self._sampler, state["start"]), self.batches, self.skipped)

    def _samples_done(self, state: dict[str, Any]) -> int:
        """Samples of this rank's share that are behind, also if the share is another one now."""
        inner = self._sampler.sampler
        if type(inner) is not DistributedSampler:
            return self._samples
        everywhere = self._samples * int(state.get("world_size", inner.num_replicas))
        done, uneven = divmod(everywhere, int(inner.num_replicas))
        if uneven:
            raise InvalidArgumentError(
                f"all ranks together had {everywhere} samples when the state was saved, which "
                f"{inner.num_replicas} ranks cannot have had evenly: resume with a world size that "
                "divides them"
            )
        self._samples = done
        return done


# What an epoch iterates over holds no reference to the epoch: an epoch's list of indices goes with
# its iterator, without waiting for the garbage collector.


def _seeded(sampler: Any, start: dict[str, Any], note: dict[str, Any]) -> Iterator[Any]:
    seed = start.get("seed")
    if seed is None:
        seed = int(torch.empty((), dtype=torch.int64).random_().item())
    note["seed"] = seed
    yield from sampler_state.seeded(sampler, seed)


def _noting_default_generator(sampler: Any, note: dict[str, Any]) -> Iterator[Any]:
    note["torch"] = sampler_state.pack(torch.get_rng_state())
    yield from sampler


def _after(items: Iterator[Any], count: int, skipped: list[Any]) -> Iterator[Any]:
    skipped.extend(itertools.islice(items, count))
    yield from items


def flattened(skipped: list[Any]) -> list[Any]:
    """Of what an epoch was wound past, the samples: some samplers give batches of them."""
    try:
        iter(skipped[0])
    except (IndexError, TypeError):
        return skipped
    return list(itertools.chain.from_iterable(skipped))


def _length(sampler: Any) -> float:
    try:
        return len(sampler)
    except TypeError:
        return float("inf")


class _Lazy:
    """An iterator in the place of a sampler."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return self._items
