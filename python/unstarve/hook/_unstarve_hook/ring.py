"""Writes a ring of 64-byte records into a memory-mapped file (format: docs/formats/run.md)."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import time

CAPACITY = 16384  # records, a power of two; 1 MiB
RECORD_BYTES = 64
HEADER_BYTES = 4096
TEXT_AT = 64
TEXT_BYTES = HEADER_BYTES - TEXT_AT
HOOK_EVENTS = 1

#: What an integer holds that could not be had.
ABSENT = -(2**63)

_HEADER = struct.Struct("<8sIIIIQQQqII")
_pack_record = struct.Struct("<HHIqqqqqqq").pack_into
_MASK = CAPACITY - 1


class Ring:
    """One writer, which locks. The file's pages outlive the process, however it ends.

    The space is allocated before the file gets its name, so that a full disk is an OSError here
    and never a SIGBUS in the job later, and a reader never sees half a header.
    """

    def __init__(self, directory: str) -> None:
        # A process id is used again, and `exec` keeps it; with the time it is one ring's name.
        pid, now = os.getpid(), time.monotonic_ns()
        name = f"hook-{pid}-{now}"
        hidden = os.path.join(directory, f".{name}.new")
        size = HEADER_BYTES + CAPACITY * RECORD_BYTES
        descriptor = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            os.posix_fallocate(descriptor, 0, size)
            self._map = mmap.mmap(descriptor, size)
            locked = _is_locked(descriptor, hidden)
            header = (b"UNSTRING", 1, HOOK_EVENTS, RECORD_BYTES, 0, CAPACITY, 0, pid)
            _HEADER.pack_into(self._map, 0, *header, now, 0, int(locked))
            self.path = os.path.join(directory, name + ".ring")
            os.rename(hidden, self.path)
        except BaseException:
            os.unlink(hidden)
            raise
        finally:
            os.close(descriptor)
        view = memoryview(self._map)
        # Native 8- and 4-byte stores: a reader never sees half of a count.
        self._write_count = view[32:40].cast("Q")
        self._text_size = view[56:60].cast("I")
        self._count = 0

    def append(
        self, event: int, thread_id: int, start_ns: int, end_ns: int, numbers: tuple[int, ...]
    ) -> None:
        count = self._count
        at = HEADER_BYTES + (count & _MASK) * RECORD_BYTES
        _pack_record(self._map, at, event, 0, thread_id, start_ns, end_ns, *numbers)
        self._count = count + 1
        self._write_count[0] = count + 1

    def set_text(self, text: bytes) -> None:
        """At most TEXT_BYTES bytes. The size is 0 while the text is being replaced."""
        self._text_size[0] = 0
        self._map[TEXT_AT : TEXT_AT + len(text)] = text
        self._text_size[0] = len(text)


def _is_locked(descriptor: int, path: str) -> bool:
    """Locks a file that is mapped: the lock goes with the last process that maps it, however that
    ends. False where the file system does not keep others from it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        other = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(other)
    except OSError:
        pass
    return False


def leave_word(directory: str, error: OSError) -> None:
    """Says why there is no ring, by the name of an empty file: it needs no room on a full disk."""
    name = f"hook-{os.getpid()}-{time.monotonic_ns()}.errno-{error.errno}"
    os.close(os.open(os.path.join(directory, name), os.O_CREAT | os.O_CLOEXEC, 0o644))
