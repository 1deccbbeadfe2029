"""The iterator that copies one batch ahead of the training step.

Memory that a copy reads is not written again before the copy's event has completed: the host's
batch is kept until then.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from unstarve.device.lane import Copy, Lane
from unstarve.device.pinning import warn_pageable

#: Makes the state of a loader as it was when it was noted, which costs little.
Noted = Callable[[], dict[str, Any]]


def taking(state_of: Callable[[], dict[str, Any]]) -> Callable[[], Noted]:
    """Notes by taking the state at once, of a loader that cannot do it for less."""

    def note() -> Noted:
        state = state_of()
        return lambda: state

    return note


class Progress:
    """Where the consumer is, though the copies are ahead of it."""

    def __init__(self) -> None:
        self.noted: Noted | None = None  # None: as the loader says


class DeviceIterator:
    """One epoch on the device, one batch ahead of the consumer.

    Where `host` has `next_if_ready()` (False: not yet), the consumer never waits for a batch that
    it has not asked for; of other iterators the next batch is fetched before the present one is
    given out. An error of the loader comes in its batch's turn.
    """

    def __init__(
        self,
        host: Iterator[Any],
        lane: Lane,
        *,
        memory: Any = None,
        note_state: Callable[[], Noted] | None = None,
    ) -> None:
        self.progress = Progress()
        self._host = host
        self._lane = lane
        self._memory = memory
        self._note_state = note_state
        self._next_if_ready = getattr(host, "next_if_ready", host.__next__)
        self._ahead: deque[tuple[Copy, Noted | None]] = deque()
        self._read: deque[tuple[Copy, Any]] = deque()  # host batches that copies may still read
        self._over = False
        self._error: Exception | None = None
        if note_state is not None:
            self.progress.noted = note_state()

    def __iter__(self) -> DeviceIterator:
        return self

    def __next__(self) -> Any:
        self._let_go()
        if not self._ahead:
            self._fetch(self._host.__next__)
        if not self._ahead:
            error, self._error = self._error, None  # its traceback holds this iterator
            if error is not None:
                raise error
            self.progress.noted = None
            raise StopIteration
        if len(self._ahead) == 1:  # two, where Ctrl-C came after the last fetch
            self._fetch(self._next_if_ready)
        copy, self.progress.noted = self._ahead.popleft()
        return copy.hand_over()

    def _fetch(self, next_batch: Callable[[], Any]) -> None:
        """Starts the copy of one more batch, if there is one."""
        if self._over or self._error is not None:
            return
        try:
            batch = next_batch()
        except StopIteration:
            self._over = True
            return
        except Exception as error:
            self._error = error
            return
        if batch is False:
            return
        noted = None if self._note_state is None else self._note_state()
        copy = self._lane.start(batch)
        self._read.append((copy, batch))
        self._ahead.append((copy, noted))
        reason = "" if self._memory is None else self._memory.why_pageable
        if reason:
            warn_pageable(reason)
            self._memory = None

    def _let_go(self) -> None:
        while self._read and self._read[0][0].is_over():
            self._read.popleft()

    def close(self) -> None:
        """Waits until no copy reads the host's memory, and lets go of it."""
        while self._read:
            self._read[0][0].wait()
            self._read.popleft()
        self._ahead.clear()

    def __del__(self) -> None:
        # At the interpreter's end the device may be gone, and with it every copy.
        with contextlib.suppress(Exception):
            self.close()
