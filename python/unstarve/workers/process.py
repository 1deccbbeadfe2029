"""What runs in a worker process: torch's own worker loop, with batches made in shared slots."""

from __future__ import annotations

import contextlib
import os
import select
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from unstarve import _native
from unstarve.workers.channel import Descriptor, MessageWriter
from unstarve.workers.collate import SlotCollation
from unstarve.workers.keeper import Keeper
from unstarve.workers.packing import BatchMemory, Place, pack

#: worker, number of slots, bytes of the skeleton in the message, place of the skeleton (or -1).
HEADER = struct.Struct("<HHIiQQ")
FRAME = struct.Struct("<H")
SLOT = struct.Struct("<I")
# Short messages leave room in the pipe for the batches of many workers.
_SKELETON_BYTES_MAX = 1024
_SLOTS_MAX = (select.PIPE_BUF - FRAME.size - HEADER.size - _SKELETON_BYTES_MAX) // SLOT.size


def message(worker: int, slots: list[int], skeleton: bytes, place: Place | None) -> bytes:
    """What the main process reads: see ResultReceiver."""
    where = (-1, 0, 0) if place is None else place
    body = HEADER.pack(worker, len(slots), len(skeleton), *where)
    body += b"".join(SLOT.pack(slot) for slot in slots) + skeleton
    return FRAME.pack(len(body)) + body


class ResultSender:
    """A worker's end of the results: what its loop takes for a multiprocessing.Queue."""

    def __init__(self, worker: int, slots: Descriptor, writer: MessageWriter) -> None:
        self._worker = worker
        self._slots = slots
        self._writer = writer
        self._memory: BatchMemory | None = None
        self._keeper: Keeper | None = None

    def open(self) -> BatchMemory:
        """In the worker itself, once."""
        self._memory = BatchMemory(_native.SlotWriter(self._slots.fd))
        self._slots.close()
        return self._memory

    def note_with(self, keeper: Keeper) -> None:
        """What is sent from now on says how far this worker is."""
        self._keeper = keeper

    def put(self, item: Any) -> None:
        """`item` is a task's number, or torch's word of a further epoch, and what came of it."""
        memory = self._memory if self._memory is not None else self.open()
        try:
            note = None if self._keeper is None else self._keeper.note(is_end=_is_end(item))
            packed = self._pack(memory, (*item, note))
        except Exception:
            memory.abandon()
            packed = self._pack(memory, (*_as_error(item, self._worker), None))
        self._writer.write(packed)

    def _pack(self, memory: BatchMemory, item: Any) -> bytes:
        skeleton = pack(memory, item)
        place = None
        if len(skeleton) > _SKELETON_BYTES_MAX:
            place = memory.allocate(len(skeleton))
            memory.view(place)[:] = skeleton
            skeleton = b""
        slots = memory.take()
        if len(slots) > _SLOTS_MAX:
            raise RuntimeError(f"a batch lies in {len(slots)} slots")
        return message(self._worker, slots, skeleton, place)

    def cancel_join_thread(self) -> None:
        """As multiprocessing.Queue; there is nothing to join."""

    def close(self) -> None:
        """As multiprocessing.Queue."""


def _is_end(item: Any) -> bool:
    """Of an IterableDataset."""
    from torch.utils.data._utils.worker import _IterableDatasetStopIteration

    return isinstance(item[1], _IterableDatasetStopIteration)


def _as_error(item: Any, worker: int) -> Any:
    """Inside an except block: what to send in place of a batch that could not be packed."""
    from torch._utils import ExceptionWrapper

    index, data = item
    where = f"in DataLoader worker process {worker}"
    if isinstance(data, ExceptionWrapper):
        # Its class cannot be pickled; its text can.
        data.exc_type = RuntimeError
        return index, data
    return index, ExceptionWrapper(where=where)


class Origin(NamedTuple):
    """Who started a worker."""

    pid: int
    kill_with_it: bool


def run_worker(
    loop: Callable[..., None],
    args: tuple[Any, ...],
    origin: Origin,
    keeper: Keeper | None,
) -> None:
    """The worker's main function; `loop` is torch's, `args` are its arguments."""
    if origin.kill_with_it:
        with contextlib.suppress(OSError):
            _native.die_with_parent()
    if not any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        _native.keep_freed_memory()
    for argument in args:
        if isinstance(argument, ResultSender):
            collation = SlotCollation(argument.open())
            collation.begin()
            _watch_fetcher(collation, keeper)
            if keeper is not None:
                argument.note_with(keeper)
    loop(*args)


def _watch_fetcher(collation: SlotCollation, keeper: Keeper | None) -> None:
    """From now on in this process, of what torch's worker loop makes to fetch its batches. A data
    set that reads through a DataLoader of its own makes such things as well."""
    from torch.utils.data import _DatasetKind
    from torch.utils.data._utils import worker

    make = _DatasetKind.create_fetcher

    def create_fetcher(*args: Any) -> Any:
        if sys._getframe(1).f_code.co_filename != worker.__file__:
            return make(*args)
        fetcher = make(*args) if keeper is None else keeper.make_fetcher(make, *args)
        fetcher.collate_fn = collation.within(fetcher.collate_fn)
        return fetcher

    _DatasetKind.create_fetcher = staticmethod(create_fetcher)
