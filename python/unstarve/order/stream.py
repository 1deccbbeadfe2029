"""Which samples make up each batch of an epoch, and how to find the place again after a restart.

A loader's sampler is asked exactly as torch asks it, so the order is torch's own for the same
seeds. Beside it is kept what it takes to ask again (`sampler_state`), and how many batches the
consumer has been given. To resume, the stream of indices is wound forward; no sample is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unstarve.errors import InvalidArgumentError
from unstarve.order import sampler_state
from unstarve.order.epoch import FORMAT, Epoch
from unstarve.own_state import Questions, warn_without


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
        #: Whether somebody asks for states: a sampler's own is then asked for with each batch, at
        #: any cost, from the next epoch on.
        self.is_wanted = False
        self._again: Epoch | None = None

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Epoch:
        if self._again is not None:
            self._epoch, self._again = self._again.begun_again(), None
            return self._epoch
        if self._resume is not None:
            # It counts until a batch is taken: some trainers call iter() twice.
            sampler_state.restore(self._resume["start"], self.sampler, self.generator)
            self._next_epoch = self._resume["epoch"]
        self._epoch = Epoch(self, self._next_epoch, self._resume)
        self._next_epoch += 1
        return self._epoch

    def questions(self) -> Questions:
        """For an epoch's sampler: each answer counts once somebody has asked for the state."""
        return Questions(always=self.is_wanted)

    @property
    def resumed(self) -> dict[str, Any] | None:
        """The state that the next `iter()` goes on from."""
        return self._resume

    @resumed.setter
    def resumed(self, state: None) -> None:
        self._resume = state

    def is_over(self) -> bool:
        """Whether a state would be of the next epoch's begin."""
        return self._epoch is None or self._epoch.is_over()

    def with_sampler(self, sampler: Any) -> IndexStream:
        """The same place in the sequence of epochs, with the order of another sampler."""
        other = IndexStream(sampler, self.generator)
        other._next_epoch, other._resume = self._next_epoch, self._resume
        other.is_wanted = self.is_wanted
        other._epoch = self._epoch  # until it is over, a state is of this one
        if other._epoch is not None:
            other._epoch.belongs_to(other)
        return other

    def taken_from(self, epoch: Epoch) -> None:
        """The consumer has something of this epoch, which a restart may have begun."""
        if epoch is self._epoch:
            self._resume = None

    def begin_again(self, epoch: Epoch) -> None:
        """The next `iter()` means this epoch, which it has begun already: torch's iterator with
        workers asks its sampler twice, and goes by the second answer."""
        self._again = epoch

    def set_epoch(self, epoch: int) -> None:
        """The number of the epoch that the next `iter()` begins; samplers are told as well."""
        self._next_epoch = epoch
        for sampler in sampler_state.chain(self.sampler):
            if hasattr(sampler, "set_epoch"):
                sampler.set_epoch(epoch)

    def noted_state(self, *, lives_on: bool = False) -> Callable[[], dict[str, Any]]:
        """Where the consumer is (not how far loading has got ahead of it), in plain values, which
        are made when they are wanted.

        With workers that live on, torch draws no seed for the next epoch.
        """
        if self._resume is not None:
            return dict(self._resume).copy
        if self._epoch is not None and not self._epoch.is_over():
            return self._epoch.as_now().state_dict
        questions = Questions()
        start = sampler_state.capture(self.sampler, self.generator, questions, within_epoch=False)
        state = {
            "format": FORMAT,
            "epoch": self._next_epoch,
            "batches": 0,
            "samples": 0,
            "draw_seed": None,
            "behind_seed": lives_on and self._epoch is not None,
            "start": start,
        }

        def make() -> dict[str, Any]:
            if questions.why_not:
                warn_without("the sampler", questions.why_not)
            return state

        return make

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next `iter()` goes on from there."""
        found = state.get("format") if isinstance(state, dict) else type(state).__name__
        if found != FORMAT:
            raise InvalidArgumentError(
                f"not a state of unstarve.DataLoader: its format is {found!r}, not {FORMAT!r}"
            )
        self.is_wanted = True
        self._resume = dict(state)
        self._next_epoch = state["epoch"]
