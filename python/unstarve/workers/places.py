"""How far each worker is: what it takes to go on behind the last batch that the consumer got.

Each worker sends a note with its batch (see `keeper`). The main process keeps the note of each
worker's last batch that was delivered, as bytes, until somebody asks for the loader's state; of
what its data set said of itself, the last that came.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from unstarve.errors import InvalidArgumentError
from unstarve.own_state import warn_without
from unstarve.workers.generators import Note, from_plain, to_plain
from unstarve.workers.keeper import Sent


class Places:
    """The main process's side, for the workers of one iterator."""

    def __init__(
        self, workers: int, resumed: dict[str, Any] | None = None, *, always: bool = False
    ) -> None:
        #: Whether data sets are asked for their states with each batch, at any cost.
        self.always = always
        self._workers = workers
        self._resumed: list[Note | None] = [None] * workers
        #: The worker that is given the first batch.
        self.first = 0
        self._last: int | None = None
        self._notes: dict[int, Sent] = {}
        self._ends: dict[int, Sent] = {}
        if resumed is not None:
            self._resumed = [from_plain(note) for note in resumed["states"]]
            self.first = int(resumed["next"])

    def restored(self, worker: int) -> Note | None:
        """What a worker that is started now has to go on from."""
        return self._resumed[worker]

    def begins(self) -> int:
        """The first worker of an epoch; of the epochs behind it is worker 0, as in torch."""
        first, self.first = self.first, 0
        self._last = first - 1 if first > 0 else None
        return first

    def delivered(self, worker: int, note: Sent | None) -> None:
        self._last = worker
        before = self._notes.get(worker)
        if note is None:
            note = Sent(None, None)
        self._notes[worker] = note._replace(own=before.own) if before and not note.own else note

    def begins_again(self, worker: int, note: Sent | None) -> None:
        """A worker that lives on has been told of a further epoch."""
        self._notes[worker] = note or Sent(None, None)
        self._ends.pop(worker, None)

    def ended(self, worker: int, note: Sent | None) -> None:
        """Its IterableDataset is at its end; batches of it may still be on their way."""
        self._ends[worker] = note or Sent(None, None)

    def as_now(self) -> Places:
        """For `state()`, whatever is delivered from now on."""
        now = copy.copy(self)
        now._notes, now._ends = dict(self._notes), dict(self._ends)
        return now

    def state(self, *, is_over: bool) -> dict[str, Any] | None:
        """Plain values, but for what data sets put in; None: there is nothing to say."""
        notes = {**self._notes, **self._ends} if is_over else self._notes
        states = [
            self._plain(notes[worker]) if worker in notes else to_plain(self._resumed[worker])
            for worker in range(self._workers)
        ]
        following = 0 if self._last is None or is_over else (self._last + 1) % self._workers
        if not any(states) and following == 0:
            return None
        return {"count": self._workers, "next": following, "states": states}

    @staticmethod
    def _plain(note: Sent) -> Note | None:
        whole: Note = {}
        for part in note:
            whole |= {} if part is None else pickle.loads(part)
        without = whole.pop("without", None)
        if without is not None:
            warn_without("the data set", without)
        return to_plain(whole) if whole else None


def places_to_resume(state: dict[str, Any] | None, workers: int, *, iterable: bool) -> Any:
    """What a loader's state says of its workers, if that many can go on from it, or None."""
    if state is None or int(state["count"]) == workers:
        return state
    if not iterable:
        return None  # any worker can load any sample; only what it draws is lost
    raise InvalidArgumentError(
        f"the place in an IterableDataset was saved by {state['count']} workers: resume with "
        f"num_workers={state['count']}, not {workers}"
    )
