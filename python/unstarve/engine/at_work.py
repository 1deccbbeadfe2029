"""Which loaders of this process have threads and load ahead, of those with `num_workers=0`.

torch loads nothing ahead there, so a job may have hundreds of them: one for each domain, client or
episode. A few that were asked last are at work; all others are at rest, without threads and without
batches that lie ready, and load what they are asked for once they are.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Protocol

#: Training, validation and two more, each with its batches ahead.
AT_WORK_MAX = 4


class Engine(Protocol):
    """A compiled loader."""

    def rest(self) -> None: ...
    def set_reads_ahead(self, reads_ahead: bool) -> None: ...


class AtWork:
    """The engines that were asked last. Any thread; a forked child begins with none."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        # A signal handler may ask for a batch while one is asked for.
        self._lock = threading.RLock()
        self._engines: list[weakref.ref[Any]] = []  # the one that was asked last is the last

    def begins(self, engine: Engine) -> None:
        """An epoch will begin: where there is room it may load ahead at once."""
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            if self._place_of(engine) is not None:
                return
            has_room = len(self._engines) < self._most
            engine.set_reads_ahead(has_room)
            if has_room:
                self._engines.append(weakref.ref(engine))
            else:
                engine.rest()

    def asked(self, engine: Engine) -> None:
        """A batch is wanted now. Whoever is asked a second time soon loads ahead from then on."""
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            place = self._place_of(engine)
            if place is not None:
                self._engines.append(self._engines.pop(place))
                engine.set_reads_ahead(True)
                return
            while len(self._engines) >= self._most:
                idlest = self._engines.pop(0)()
                if idlest is not None:
                    idlest.set_reads_ahead(False)
                    idlest.rest()
            self._engines.append(weakref.ref(engine))

    def _place_of(self, engine: Engine) -> int | None:
        self._engines = [known for known in self._engines if known() is not None]
        return next((at for at, known in enumerate(self._engines) if known() is engine), None)


at_work = AtWork(AT_WORK_MAX)
