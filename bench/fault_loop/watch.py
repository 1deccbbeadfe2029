"""Whether a part still moves, and whether it leaves anything behind as it goes on."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fault_loop.made_data import check

HANG_S = 300.0  # in which one more file, kill or loader must be done with
ALLOWED_BYTES = 6 << 20  # allocators keep some
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 1 << 14, 1 << 18  # of the kernel


def still_moving() -> None:
    """Unless this is called again in time, the program ends with every thread's place."""
    faulthandler.dump_traceback_later(HANG_S, exit=True)


def rss_bytes() -> int:
    with Path("/proc/self/statm").open() as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def threads() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def take_shared_memory_of_its_own() -> bool:
    """From here on `/dev/shm` is this program's and its children's alone, where that is allowed:
    what others put there must not count."""
    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWNS) != 0:
        return False
    libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None)
    return bool(libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", ctypes.c_ulong(0), None) == 0)


@contextmanager
def no_shared_memory_left() -> Iterator[None]:
    def names() -> set[str]:
        return {path.name for path in Path("/dev/shm").iterdir()}

    before = names()
    yield
    check(names() <= before, f"left in /dev/shm: {names() - before}")


@dataclass
class Usage:
    memory: int  # bytes
    files: int
    threads: int

    @staticmethod
    def now() -> Usage:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # so that what is free does not count
        return Usage(rss_bytes(), open_files(), threads())


class Watch:
    """Looks at the process after a warm-up, usually a tenth of the work, and at the end."""

    def __init__(self, count: int, warm_up: int | None = None) -> None:
        self.warm_up = max(1, count // 10) if warm_up is None else warm_up
        self.before: Usage | None = None
        still_moving()

    def seen(self, done: int) -> None:
        still_moving()
        if self.before is None and done >= self.warm_up:
            self.before = Usage.now()

    def text(self) -> str:
        """What has been added since; fails where that is more than nothing."""
        assert self.before is not None
        after = Usage.now()
        grown = after.memory - self.before.memory
        check(grown < ALLOWED_BYTES, f"memory has grown by {grown} bytes")
        check(after.files <= self.before.files, f"{after.files - self.before.files} files open")
        check(after.threads <= self.before.threads, f"{after.threads} threads are left")
        return f"{grown >> 10} KiB more than after the first {self.warm_up}, no file, no thread"
