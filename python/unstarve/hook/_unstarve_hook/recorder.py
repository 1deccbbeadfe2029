"""What one process of the job has to say: its ring, opened when there is something to record."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import Any, Callable

from . import describe
from . import started_ns as _hook_started_ns
from .ring import ABSENT, Ring, leave_word

PROCESS, STEP, LOADER, WAIT, FETCH, END, SYNC, STAGE, STACK = range(1, 10)
HOST_WORK = 11
MAIN, WORKER, OTHER = 0, 1, 2
_ROLES = ("main", "loader worker", "other")
_MOST_ERRORS = 8
_NOTHING = (ABSENT,) * 5

now_ns = time.monotonic_ns
_thread_id = threading.get_native_id


class Recorder:
    """Thread-safe. Never raises: what goes wrong is kept for `hook_errors` of the ring's text."""

    def __init__(self, run_dir: str, started_ns: int) -> None:
        self.run_dir = run_dir
        self.started_ns = started_ns
        self.after_fork: list[Callable[[], None]] = []  # called in a forked child
        self.before_end: list[Callable[[], None]] = []
        self.on_thread: Callable[[int], None] | None = None  # by each thread at its first record
        self.paused = False  # also in children forked meanwhile: nothing of the job is going on
        self._clear()

    def _clear(self) -> None:
        # Re-entrant, since a signal handler of the job may run between any two lines of ours; at
        # worst the interrupted record is overwritten.
        self._lock = threading.RLock()
        self._ring: Ring | None = None
        self._given_up = False
        self._errors: list[str] = []
        self._facts: dict[str, Any] = {}
        self._role = OTHER
        self._threads: set[int] = set()

    def begin(self, run_dir: str) -> None:
        """Records into another run from here on: what is watched is a part of the process."""
        self.run_dir = run_dir
        self.start_afresh()
        self.paused = False

    def leave(self) -> None:
        """The end of that part. Nothing is recorded any more, whoever still calls us."""
        self.end()
        self.paused = True
        self._clear()

    def start_afresh(self) -> None:
        self.started_ns = now_ns()
        self._clear()
        for forget in self.after_fork:
            forget()

    def record(self, event: int, start_ns: int, end_ns: int, *numbers: int) -> None:
        """`numbers` are the record's a, b, ...; those left out are absent."""
        if self.paused:
            return
        try:
            with self._lock:
                ring = self._ring or self._open(event)
                if ring is not None:
                    numbers += _NOTHING[len(numbers) :]
                    thread = _thread_id()
                    ring.append(event, thread, start_ns, end_ns, numbers)
                    if thread not in self._threads:
                        self._meet(thread)
        except Exception as error:
            self.note_error(error)

    def _meet(self, thread_id: int) -> None:
        self._threads.add(thread_id)
        if self.on_thread is not None:
            self.on_thread(thread_id)

    def note_thread(self) -> None:
        """This thread does the job's work, though it may never make a record."""
        if self.paused:
            return
        with self._lock:
            ring = self._ring or self._open(PROCESS)
        if ring is not None and not self.is_worker() and self.on_thread is not None:
            self.on_thread(_thread_id())

    def note_stack(
        self, thread_id: int, at_ns: int, number: int, period_ns: int, late_ns: int
    ) -> None:
        """What another thread was seen to do: a line of the names beside the ring."""
        with self._lock:
            if self._ring is not None and not self.paused:
                numbers = (number, period_ns, late_ns, ABSENT, ABSENT)
                self._ring.append(STACK, thread_id, at_ns, at_ns, numbers)

    def ring_path(self) -> str | None:
        return self._ring.path if self._ring is not None else None

    def is_worker(self) -> bool:
        return self._role == WORKER

    def record_beside(self, event: int, start_ns: int, end_ns: int, *numbers: int) -> None:
        """The same, of a process that has a ring already: no reason to make one."""
        if self._ring is not None:
            self.record(event, start_ns, end_ns, *numbers)

    def announce(self) -> None:
        """Makes the ring, for what was described alone."""
        if not self.paused and self._ring is None and not _is_child():
            with self._lock:
                self._open(PROCESS)

    def describe(self, **facts: object) -> None:
        """Adds to the ring's text; kept until there is a ring."""
        try:
            with self._lock:
                self._facts.update(facts)
                self._write_text()
        except Exception as error:
            self.note_error(error)

    def facts(self, key: str) -> Any:
        return self._facts.get(key)

    def note_error(self, error: Exception) -> None:
        try:
            with self._lock:
                text = describe.error_text(error)
                if text not in self._errors and len(self._errors) < _MOST_ERRORS:
                    self._errors.append(text)
                    self._write_text()
        except Exception:
            pass  # Nobody is left to be told.

    def _open(self, event: int) -> Ring | None:
        if self._given_up:
            return None
        # One try: a directory that is gone or full stays so. And a signal's handler that records
        # meanwhile makes no second ring: it has none until this one is whole.
        self._given_up = True
        rings = os.path.join(self.run_dir, "rings")
        try:
            ring = Ring(rings)
        except OSError as error:
            leave_word(rings, error)
            raise
        role = _role(event)
        self._role = role
        self._facts.update(describe.process(), role=_ROLES[role])
        self._ring = ring
        numbers = (os.getpid(), os.getppid(), role, ABSENT, ABSENT)
        ring.append(PROCESS, _thread_id(), self.started_ns, now_ns(), numbers)
        self._write_text()
        self._given_up = False
        if _is_child():
            _at_child_exit()
        return ring

    def _write_text(self) -> None:
        if self._ring is not None:
            self._ring.set_text(describe.fit(dict(self._facts, hook_errors=self._errors)))

    def end(self) -> None:
        """The last record. A process that imported torch and showed us nothing says just that."""
        for leave in self.before_end:
            leave()
        failed = getattr(sys, "last_type", None) is not None or hasattr(sys, "last_exc")
        if self._ring is None and ("torch" not in sys.modules or _is_child()):
            return
        if not self._threads and "torch" in sys.modules:
            self.describe(saw_nothing="torch was imported; no DataLoader and no optimizer step")
        if failed and not self.is_worker():
            self._describe_error()
        self.record(END, now_ns(), now_ns(), 1 if failed else 0)

    def _describe_error(self) -> None:
        try:
            ended_by = describe.last_error()
        except Exception as error:
            self.note_error(error)
            return
        if ended_by:
            self.describe(ended_by=ended_by)


def _role(event: int) -> int:
    worker = sys.modules.get("torch.utils.data._utils.worker")
    if getattr(worker, "_worker_info", None) is not None:
        return WORKER
    return OTHER if event == FETCH else MAIN


def _is_child() -> bool:
    """Whether `multiprocessing` started this process."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _at_child_exit() -> None:
    """Children of `multiprocessing` leave by os._exit, past atexit, but run its finalizers."""
    from multiprocessing import util

    util.Finalize(None, RECORDER.end, exitpriority=0)


RECORDER = Recorder(os.environ.get("UNSTARVE_RUN_DIR", ""), _hook_started_ns)
# Runs after what the job registers later: those functions still count as the job.
atexit.register(RECORDER.end)
