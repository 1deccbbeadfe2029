"""torch's multi-process iterator on shared slots in place of torch's queues."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import queue
import select
import struct
import termios
import threading
import time
from typing import Any

import torch
from torch.utils.data._utils.worker import _IterableDatasetStopIteration, _ResumeIteration
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from unstarve import _native
from unstarve.workers.carried import Carried, CarryingIterator
from unstarve.workers.channel import (
    Descriptor,
    MessageWriter,
    SharedFlag,
    TaskReader,
    TaskWriter,
    make_pipe,
)
from unstarve.workers.keeper import Keeper, Sent
from unstarve.workers.packing import unpack
from unstarve.workers.places import Places
from unstarve.workers.process import FRAME, HEADER, SLOT, Origin, ResultSender, message, run_worker

# Of the memory that is available when an iteration starts, what batches that the job keeps may
# hold of workers' slots; beyond that they are copied to ordinary memory.
_HELD_SHARE = 1 / 8
_HELD_SLOTS_MAX = 1024
_NOBODY = 0xFFFF  # the worker in messages of the main process to itself
_READ_BYTES = 1 << 16


class WorkerIterator(CarryingIterator, _MultiProcessingDataLoaderIter):  # type: ignore[misc]
    """Order, seeds, errors, timeouts and shutdown are torch's own; only the transport is not.

    Batches are tensors and arrays on memory that a worker filled; it is filled again when the last
    of them is gone. A process that is forked meanwhile keeps what it sees. `places`, where they are
    asked for, follow how far each worker is.
    """

    def __init__(self, loader: Any, places: Places | None = None) -> None:
        context = loader.multiprocessing_context
        if context is None:
            context = torch.multiprocessing
        super().__init__(WithContext(loader, SlotContext(context, places)))


class WithContext:
    """A DataLoader with another multiprocessing_context."""

    def __init__(self, loader: Any, context: Any) -> None:
        self._loader = loader
        self.multiprocessing_context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class SlotContext:
    """What torch's iterator uses of a multiprocessing context, for one iterator."""

    def __init__(self, context: Any, places: Places | None) -> None:
        self._context = context
        self._places = places
        self._results: ResultReceiver | None = None
        self._task_pipes: dict[int, Descriptor] = {}  # by id() of the TaskWriter
        self._worker_count = 0

    def Queue(self) -> Any:  # noqa: N802  (multiprocessing's name)
        """The first one is for results, all others are for a worker's tasks each."""
        if self._results is None:
            self._results = ResultReceiver(self._places)
            return self._results
        reader, writer = make_pipe()
        tasks = TaskWriter(writer)
        self._task_pipes[id(tasks)] = reader
        return tasks

    def Event(self) -> SharedFlag:  # noqa: N802
        return SharedFlag()

    def Process(self, target: Any, args: tuple[Any, ...]) -> Any:  # noqa: N802
        assert self._results is not None
        parent_pid = os.getpid()
        worker = self._worker_count
        self._worker_count += 1
        own: list[Any] = []
        for argument in args:
            if argument is self._results:
                own.append(self._results.sender(worker, parent_pid))
            elif isinstance(argument, TaskWriter):
                own.append(TaskReader(self._task_pipes.pop(id(argument)), parent_pid))
            else:
                own.append(argument)
        # The kernel ties "parent" to the thread that forks, and a fork server forks for us.
        origin = Origin(parent_pid, threading.current_thread() is threading.main_thread())
        keeper = None
        if self._places is not None:
            keeper = Keeper(
                self._places.restored(worker), with_generators=True, always=self._places.always
            )
        arguments = (target, tuple(own), origin, keeper)
        process = self._context.Process(target=run_worker, args=arguments)
        self._results.watch(process)
        return process


class ResultReceiver:
    """The main process's end of all workers' results, with what it needs of a Queue's face."""

    def __init__(self, places: Places | None) -> None:
        self._reader, self._writer = make_pipe()
        self._places = places
        self._slots: list[Any] = []  # a SlotReader per worker
        self._processes: list[Any] = []
        self._ended: set[int] = set()
        self._buffer = bytearray()
        self._held_bytes_max = held_bytes_max()

    def sender(self, worker: int, parent_pid: int) -> ResultSender:
        memory = Descriptor(_native.create_slot_memory())
        self._slots.append(_native.SlotReader(memory.fd))
        return ResultSender(worker, memory, MessageWriter(self._writer, parent_pid))

    def watch(self, process: Any) -> None:
        self._processes.append(process)

    def get(self, timeout: float | None = None) -> Any:
        """The next result; queue.Empty after `timeout`, at once when a worker has died."""
        body = self._next_message()
        deadline = None if timeout is None else time.monotonic() + timeout
        while body is None:
            if self._read():
                body = self._next_message()
            elif not self._wait(deadline):
                raise queue.Empty
        return self._take(body)

    def _read(self) -> bool:
        try:
            self._buffer += os.read(self._reader.fd, _READ_BYTES)
            return True
        except BlockingIOError:
            return False

    def _next_message(self) -> bytes | None:
        if len(self._buffer) < FRAME.size:
            return None
        end = FRAME.size + FRAME.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[FRAME.size : end])
        del self._buffer[:end]
        return body

    def _wait(self, deadline: float | None) -> bool:
        """Whether there may be a message now."""
        poll = select.poll()
        poll.register(self._reader.fd, select.POLLIN)
        sentinels = {}
        for worker, process in enumerate(self._processes):
            if worker not in self._ended and process.pid is not None:
                poll.register(process.sentinel, select.POLLIN)
                sentinels[process.sentinel] = worker
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        ready = [fd for fd, _ in poll.poll(left)]
        if self._reader.fd in ready:
            return True
        failed = False
        for fd in ready:
            worker = sentinels[fd]
            self._ended.add(worker)
            # A worker whose IterableDataset is at its end leaves with 0: no reason to look.
            failed = failed or self._processes[worker].exitcode != 0
        return bool(ready) and not failed

    def _take(self, body: bytes) -> Any:
        worker, slot_count, skeleton_bytes, *where = HEADER.unpack_from(body)
        if worker == _NOBODY:
            return None, None
        at = HEADER.size
        reader = self._slots[worker]
        slots = []
        for _ in range(slot_count):
            slots.append(reader.take(SLOT.unpack_from(body, at)[0]))
            at += SLOT.size
        skeleton: Any = body[at : at + skeleton_bytes]
        if where[0] >= 0:
            skeleton = memoryview(slots[where[0]].bytes(where[1], where[2]))
        return self._noted(worker, *unpack(skeleton, slots, self._must_copy()))

    def _noted(self, worker: int, task: Any, data: Any, note: Sent | None) -> Any:
        if isinstance(task, int) and not isinstance(data, _IterableDatasetStopIteration):
            return task, Carried(task, worker, data, note)
        if self._places is not None:
            if isinstance(task, _ResumeIteration):
                self._places.begins_again(worker, note)
            else:
                self._places.ended(worker, note)
        return task, data

    def _must_copy(self) -> bool:
        held_bytes: int = sum(reader.held_bytes for reader in self._slots)
        held_slots: int = sum(reader.held_slots for reader in self._slots)
        return held_bytes > self._held_bytes_max or held_slots > _HELD_SLOTS_MAX

    def put(self, item: Any) -> None:
        """Wakes whoever waits in get(), with (None, None)."""
        assert item == (None, None)
        with contextlib.suppress(OSError):
            os.write(self._writer.fd, message(_NOBODY, [], b"", None))

    def qsize(self) -> int:
        """Results that have come in but were not taken; about so many."""
        waiting = struct.unpack("i", fcntl.ioctl(self._reader.fd, termios.FIONREAD, b"    "))[0]
        smallest = FRAME.size + HEADER.size + SLOT.size
        return (int(waiting) + len(self._buffer)) // (smallest + 256)

    def cancel_join_thread(self) -> None:
        """As multiprocessing.Queue; there is nothing to join."""

    def close(self) -> None:
        """As multiprocessing.Queue; the descriptors go with the iterator."""


def held_bytes_max() -> int:
    """What the job may hold of workers' slots before batches are copied."""
    try:
        for line in pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(int(line.split()[1]) * 1024 * _HELD_SHARE)
    except (OSError, ValueError, IndexError):
        pass
    return 1 << 30
