"""How far each worker is: what it takes to go on behind the last batch that the consumer got.

Each worker sends a note with its batch (see `keeper`). The main process keeps the note of each
worker's last batch that was delivered, as bytes, until somebody asks for the loader's state.
"""

from __future__ import annotations

import pickle
from typing import Any

from unstarve.errors import InvalidArgumentError
from unstarve.workers.generators import Note, from_plain, to_plain


class Places:
    """The main process's side, for the workers of one iterator."""

    def __init__(self, workers: int, resumed: dict[str, Any] | None = None) -> None:
        self._workers = workers
        self._resumed: list[Note | None] = [None] * workers
        #: The worker that is given the first batch.
        self.first = 0
        self._last: int | None = None
        self._notes: dict[int, bytes | None] = {}
        self._ends: dict[int, bytes | None] = {}
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

    def delivered(self, worker: int, note: bytes | None) -> None:
        self._last = worker
        self._notes[worker] = note

    def begins_again(self, worker: int, note: bytes | None) -> None:
        """A worker that lives on has been told of a further epoch."""
        self._notes[worker] = note
        self._ends.pop(worker, None)

    def ended(self, worker: int, note: bytes | None) -> None:
        """Its IterableDataset is at its end; batches of it may still be on their way."""
        self._ends[worker] = note

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
    def _plain(note: bytes | None) -> Note | None:
        return to_plain(None if note is None else pickle.loads(note))


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
