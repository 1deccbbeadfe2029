"""One pass over a sampler: what was drawn, what the consumer has of it, and the state of that."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch.utils.data import BatchSampler
from torch.utils.data.distributed import DistributedSampler

from unstarve.errors import InvalidArgumentError
from unstarve.order import sampler_state
from unstarve.order.passes import (
    Lazy,
    behind,
    drawn_again,
    length_of,
    noting_default_generator,
    seeded_pass,
)
from unstarve.order.ranges import Range, left_out, merged, rest_to_whole
from unstarve.own_state import warn_without

if TYPE_CHECKING:
    from unstarve.order.stream import IndexStream

FORMAT = "unstarve.DataLoader/1"


class Epoch:
    """One pass over the sampler: an iterator over batches of indices.

    Whoever loads the batches reports each one that the consumer gets with `delivered()`, and the
    end with `finish()`.
    """

    def __init__(self, stream: IndexStream, number: int, resumed: dict[str, Any] | None) -> None:
        self._stream = stream
        self._sampler = stream.sampler
        self.number = number
        self._resumed = resumed
        self._finished = False
        self._exhausted = False
        self._ahead: deque[Any] = deque()  # drawn only to see whether there is more
        self._questions = stream.questions()
        self._start = sampler_state.capture(
            stream.sampler, stream.generator, self._questions, within_epoch=True
        )
        self._stateful = self._stateful_sampler()
        self._states: deque[Any] = deque()  # a stateful sampler's, per batch under way, or None
        # Batches since the sampler said what is in `_start`.
        self._since = 0 if resumed is None else int(resumed.get("since", 0))
        #: What the stream was wound past, known once the first batch has been drawn: indices where
        #: torch forms the batches, else what the sampler gave.
        self.skipped: list[Any] = []
        #: How many the consumer has.
        self.batches = 0 if resumed is None else int(resumed["batches"])
        self._drawn = self.batches
        # Of the batches drawn here, counted from 0: all before `_complete`, and those `_beyond`.
        self._complete = 0
        self._beyond: set[int] = set()
        self._done = [] if resumed is None else self._done_before(resumed)
        self._draw_seed: int | None = None if resumed is None else resumed["draw_seed"]
        self._resumed_behind_seed: list[str] | None = None
        if resumed is not None and resumed.get("behind_seed", False):
            self._resumed_behind_seed = resumed["start"].get("generators")
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
            self._states.append(self._questions.ask(self._stateful.state_dict))
        return batch

    def _stateful_sampler(self) -> Any:
        """None where the pass that goes on was none of such a sampler."""
        starts = [self._start] if self._resumed is None else [self._start, self._resumed["start"]]
        if not all("sampler" in start for start in starts):
            return None
        return sampler_state.stateful(self._sampler)

    @property
    def is_finished(self) -> bool:
        """The consumer has been told so."""
        return self._finished

    def is_over(self) -> bool:
        """The consumer has all of it, whether or not it has asked for more in vain."""
        if self._finished or self.batches < self._drawn or self._ahead:
            return self._finished
        if not self._exhausted and self._drawn >= length_of(self._sampler):
            # Only the sampler knows; it may draw random numbers at its end, which must have
            # happened before its generator's state is that of the next epoch.
            try:
                self._ahead.append(self._draw_one())
            except StopIteration:
                pass
        return self._exhausted

    def begun_again(self) -> Epoch:
        """The sampler's answer to being asked once more, before the first batch. Where one goes on
        that was restored, the first answer is the one that was left off."""
        was_restored = self._stateful is not None or sampler_state.generators(self._sampler, None)
        if self._resumed is not None and was_restored:
            return self
        again = Epoch(self._stream, self.number, self._resumed)
        again._draw_seed = self._draw_seed
        return again

    def belongs_to(self, stream: IndexStream) -> None:
        """Another sampler gives the order of the epochs behind."""
        self._stream = stream

    def draw_seed(self, fresh: int) -> int:
        """The seed of the epoch's random transforms: `fresh`, or the one before the restart."""
        if self._draw_seed is None:
            self._draw_seed = fresh
        return self._draw_seed

    def seed_was_drawn(self) -> None:
        """torch has drawn the seed of its workers, maybe from a generator that the order comes from
        as well: in a state, generators are as they are behind it. Further epochs of workers that
        live on draw none."""
        generators = sampler_state.generators(self._sampler, self._stream.generator)
        if self._resumed_behind_seed is not None:
            sampler_state.set_generators(generators, self._resumed_behind_seed)
        if generators:
            self._start["generators"] = sampler_state.pack_all(generators)

    def delivered(self, number: int | None = None) -> None:
        """The consumer has one batch more: the one that was drawn as the `number`th from 0 on, or
        the first that is missing. It counts also where the consumer got its error."""
        self._stream.taken_from(self)
        self.batches += 1
        self._beyond.add(self._complete if number is None else number)
        while self._complete in self._beyond:
            self._beyond.remove(self._complete)
            self._complete += 1
            self._since += 1
            said = self._states.popleft() if self._states else None
            if said is not None:
                self._start["sampler"], self._since = said, 0

    def finish(self) -> None:
        """The consumer has been told that the epoch is over."""
        self._stream.taken_from(self)
        self._finished = True

    def as_now(self) -> Epoch:
        """For `state_dict()`, whatever is delivered from now on."""
        now = copy.copy(self)
        now._start, now._beyond = dict(self._start), set(self._beyond)
        return now

    def state_dict(self) -> dict[str, Any]:
        if self._questions.why_not:
            warn_without("the sampler", self._questions.why_not)
        done = self._all_done()
        whole = done[0][1] if done and done[0][0] == 0 else 0
        state = {
            "format": FORMAT,
            "epoch": self.number,
            "batches": self.batches,
            "samples": whole if self._counts_samples else 0,
            "draw_seed": self._draw_seed,
            "behind_seed": True,
            "start": dict(self._start),
        }
        if self._stateful is not None and self._since > 0:
            state["since"] = self._since
        if done and done != [(0, whole)]:
            state["done"] = [list(part) for part in done]
        inner = getattr(self._sampler, "sampler", None)
        if isinstance(inner, DistributedSampler):
            state["world_size"] = inner.num_replicas
        return state

    @property
    def _counts_samples(self) -> bool:
        """What is done is counted in samples, or else in what the sampler gives."""
        return type(self._sampler) is BatchSampler and self._stateful is None

    def _all_done(self) -> list[Range]:
        """Before the restart and since."""
        unit = self._sampler.batch_size if self._counts_samples else 1
        since = [(0, self._complete), *((one, one + 1) for one in self._beyond)]
        whole = [
            part
            for begin, end in since
            for part in rest_to_whole(self._done, begin * unit, end * unit)
        ]
        return merged([*self._done, *whole])

    def _done_before(self, state: dict[str, Any]) -> list[Range]:
        """What a state says, of this rank's share."""
        done = [(int(begin), int(end)) for begin, end in state.get("done", [])]
        if not self._counts_samples:
            return done or merged([(0, int(state["batches"]))])
        if type(self._sampler.sampler) is not DistributedSampler:
            return done or merged([(0, int(state["samples"]))])
        return self._done_of_share(state, done)

    def _draw(self, sampler: Any, start: dict[str, Any]) -> Iterator[Any]:
        """One pass over a sampler, which draws when it would as torch's."""
        if type(sampler) is BatchSampler:
            samples = Lazy(lambda: self._draw(sampler.sampler, start))
            return iter(BatchSampler(samples, sampler.batch_size, sampler.drop_last))
        if sampler_state.seeds_itself(sampler):
            return seeded_pass(sampler, start, self._start)
        if sampler_state.needs_nothing(sampler) or sampler_state.generators(sampler, None):
            return iter(sampler)
        if self._stateful is not None:
            return iter(sampler)
        if "torch" in start:
            return drawn_again(sampler, start, self._start)
        return noting_default_generator(sampler, self._start)

    def _rest(self, state: dict[str, Any]) -> Iterator[Any]:
        """What is left of the epoch that `state` was saved in."""
        for key in ("seed", "torch_at_iter", "torch"):
            if key in state["start"]:
                self._start[key] = state["start"][key]
        if self._stateful is not None:
            # It was restored to where the consumer had all before, or so many batches earlier.
            first = self._done[0][1] if self._done and self._done[0][0] == 0 else 0
            beyond = [(begin - first, end - first) for begin, end in self._done if begin >= first]
            items = behind(iter(self._sampler), int(state.get("since", 0)))
            return left_out(items, beyond, self.skipped)
        if type(self._sampler) is BatchSampler:
            start = state["start"]
            rest = Lazy(
                lambda: left_out(self._draw(self._sampler.sampler, start), self._done, self.skipped)
            )
            return iter(BatchSampler(rest, self._sampler.batch_size, self._sampler.drop_last))
        return left_out(self._draw(self._sampler, state["start"]), self._done, self.skipped)

    def _done_of_share(self, state: dict[str, Any], done: list[Range]) -> list[Range]:
        """Of a DistributedSampler, whose share may be another one now."""
        ranks = int(self._sampler.sampler.num_replicas)
        ranks_before = int(state.get("world_size", ranks))
        if done and ranks != ranks_before:
            raise InvalidArgumentError(
                f"batches had come out of order when the state was saved by {ranks_before} ranks: "
                f"resume with as many, not with {ranks}"
            )
        everywhere = int(state["samples"]) * ranks_before
        each, uneven = divmod(everywhere, ranks)
        if uneven:
            raise InvalidArgumentError(
                f"all ranks together had {everywhere} samples when the state was saved, which "
                f"{ranks} ranks cannot have had evenly: resume with a world size that divides them"
            )
        return done or merged([(0, each)])
