"""Batches on their way from a worker, with what it takes to count them when they are delivered."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from unstarve.workers.keeper import Sent


class Carried:
    """A batch on its way from a worker, with what it needs to be counted when it is delivered."""

    __slots__ = ("data", "note", "number", "worker")

    def __init__(self, number: int, worker: int, data: Any, note: Sent | None = None) -> None:
        self.number = number  # as the main process counts the epoch's tasks
        self.worker = worker
        self.data = data
        self.note = note

    def pin_memory(self, device: Any = None) -> Carried:
        """Called by torch's thread that pins."""
        from torch._utils import ExceptionWrapper
        from torch.utils.data._utils import pin_memory

        if not isinstance(self.data, ExceptionWrapper):
            self.data = pin_memory.pin_memory(self.data, device)
        return self


class CarryingIterator:
    """Before one of torch's iterators: its workers' batches come as Carried."""

    #: Until torch says otherwise there is nothing to shut down, as where a sampler raises.
    _shutdown = True

    _made_in = -1

    def __init__(self, loader: Any) -> None:
        self._made_in = os.getpid()
        base: Any = super()
        base.__init__(loader)

    def __del__(self, here: Callable[[], int] = os.getpid) -> None:
        # A worker of another loader may inherit this by fork; the processes are not its children.
        if self._made_in == here():
            base: Any = super()
            base.__del__()

    def _delivered(self, carried: Carried) -> None:
        """The consumer gets this batch, or its exception, now."""

    def _process_data(self, data: Any, *worker: Any) -> Any:
        base: Any = super()
        if isinstance(data, Carried):
            self._delivered(data)
            data = data.data
        return base._process_data(data, *worker)
