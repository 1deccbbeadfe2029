"""What passes between the main process and its workers: descriptors, a flag, framed messages.

Nothing here has a name in the file system, so nothing stays behind, whoever is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import pickle
import queue
import select
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing import reduction
from typing import Any

_FRAME = struct.Struct("<I")
_PIPE_BYTES = 1 << 20  # what a user may have without privileges; the kernel's default is 64 KiB


class Descriptor:
    """Owns a file descriptor; inherited by fork, duplicated for spawn and forkserver."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def close(self, close: Callable[[int], None] = os.close) -> None:
        # It may be one of the last things to go: then modules are empty already.
        fd, self.fd = self.fd, -1
        if fd >= 0:
            try:
                close(fd)
            except OSError:
                pass

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _adopt, (reduction.DupFd(self.fd),)


def _adopt(duplicate: Any) -> Descriptor:
    return Descriptor(duplicate.detach())


def make_pipe() -> tuple[Descriptor, Descriptor]:
    """The reading and the writing end; neither blocks."""
    read_fd, write_fd = os.pipe()
    reader, writer = Descriptor(read_fd), Descriptor(write_fd)
    os.set_blocking(read_fd, False)
    os.set_blocking(write_fd, False)
    with contextlib.suppress(OSError):  # the user has used up what is allowed: less will do
        fcntl.fcntl(write_fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return reader, writer


class SharedFlag:
    """What DataLoader uses of a multiprocessing.Event."""

    def __init__(self, memory: Descriptor | None = None) -> None:
        if memory is None:
            memory = Descriptor(os.memfd_create("unstarve-flag"))
            os.ftruncate(memory.fd, 1)
        self._memory = memory
        self._byte = mmap.mmap(memory.fd, 1)

    def set(self) -> None:
        self._byte[0] = 1

    def is_set(self) -> bool:
        return self._byte[0] != 0

    def __reduce__(self) -> Any:
        return SharedFlag, (self._memory,)


class ParentWatch:
    """Becomes readable when the main process is gone, whoever else holds its pipes open."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.fd = -1
        try:
            self.fd = os.pidfd_open(pid)
        except ProcessLookupError:
            raise SystemExit(0) from None
        except (AttributeError, OSError):
            pass  # no pidfd before Linux 5.3 or in some sandboxes: is_gone() asks by number

    def is_gone(self) -> bool:
        if self.fd >= 0:
            return bool(select.select([self.fd], [], [], 0)[0])
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False


def _wait(fd: int, events: int, watch: ParentWatch, timeout: float | None) -> bool:
    """Whether `fd` is ready; ends the worker when the main process is gone."""
    # Without a pidfd the main process is looked for once a second.
    longest = 3600.0 if watch.fd >= 0 else 1.0
    deadline = None if timeout is None else time.monotonic() + timeout
    poll = select.poll()
    poll.register(fd, events)
    if watch.fd >= 0:
        poll.register(watch.fd, select.POLLIN)
    while True:
        left = longest if deadline is None else min(longest, deadline - time.monotonic())
        ready = poll.poll(max(0.0, left) * 1000)
        if any(ready_fd == fd for ready_fd, _ in ready):
            return True
        if watch.is_gone():
            raise SystemExit(0)
        if deadline is not None and time.monotonic() >= deadline:
            return False


class TaskWriter:
    """The main process's end of one worker's tasks. put() never blocks.

    What does not fit into the pipe, which takes a list of some hundred thousand indices, waits
    here and is written by a thread that lives as long as something waits.
    """

    def __init__(self, pipe: Descriptor) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._waiting: deque[memoryview] = deque()
        self._closed = False

    def put(self, task: Any) -> None:
        payload = pickle.dumps(task, protocol=5)
        frame = memoryview(_FRAME.pack(len(payload)) + payload)
        with self._lock:
            if not self._waiting:
                frame = frame[self._write(frame) :]
                if not frame:
                    return
                threading.Thread(
                    target=self._write_waiting, name="unstarve-tasks", daemon=True
                ).start()
            self._waiting.append(frame)

    def _write(self, frame: memoryview) -> int:
        try:
            return os.write(self._pipe.fd, frame)
        except BlockingIOError:
            return 0
        except (BrokenPipeError, OSError):
            return len(frame)  # the worker is gone; waiting for its batch says so

    def _write_waiting(self) -> None:
        while True:
            with self._lock:
                if self._closed or not self._waiting:
                    return
                fd = self._pipe.fd
            poll = select.poll()
            poll.register(fd, select.POLLOUT)
            poll.poll(100)  # milliseconds, so that close() is seen
            with self._lock:
                while self._waiting and not self._closed:
                    frame = self._waiting[0]
                    written = self._write(frame)
                    if written < len(frame):
                        self._waiting[0] = frame[written:]
                        break
                    self._waiting.popleft()

    def cancel_join_thread(self) -> None:
        """As multiprocessing.Queue; there is nothing to join."""

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._pipe.close()


class TaskReader:
    """A worker's end of its tasks."""

    def __init__(self, pipe: Descriptor, parent_pid: int) -> None:
        self._pipe = pipe
        self._parent_pid = parent_pid
        self._watch: ParentWatch | None = None
        self._buffer = bytearray()

    def get(self, timeout: float | None = None) -> Any:
        if self._watch is None:
            self._watch = ParentWatch(self._parent_pid)
        while True:
            task = self._next_frame()
            if task is not None:
                return pickle.loads(task)
            try:
                more = os.read(self._pipe.fd, _PIPE_BYTES)
            except BlockingIOError:
                if not _wait(self._pipe.fd, select.POLLIN, self._watch, timeout):
                    raise queue.Empty from None
                continue
            if not more:
                raise SystemExit(0)  # the main process closed it
            self._buffer += more

    def _next_frame(self) -> bytes | None:
        if len(self._buffer) < _FRAME.size:
            return None
        end = _FRAME.size + _FRAME.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[_FRAME.size : end])
        del self._buffer[:end]
        return frame


class MessageWriter:
    """Writes messages of at most select.PIPE_BUF bytes whole, or not at all."""

    def __init__(self, pipe: Descriptor, parent_pid: int) -> None:
        self._pipe = pipe
        self._parent_pid = parent_pid
        self._watch: ParentWatch | None = None

    def write(self, message: bytes) -> None:
        if self._watch is None:
            self._watch = ParentWatch(self._parent_pid)
        while True:
            try:
                os.write(self._pipe.fd, message)
                return
            except BlockingIOError:
                _wait(self._pipe.fd, select.POLLOUT, self._watch, None)
            except BrokenPipeError:
                raise SystemExit(0) from None
