"""A thread that looks about twenty times a second at what the recording threads of the job do.

Only threads are looked at that have made a record: they step, wait for batches or fetch them. A
stack that is new is written as a line into the file of names beside the ring; every look is a
record that names its line (docs/formats/run.md).

The thread is made with `_thread`: `threading` neither lists it nor waits for it. It is away while
the job forks, so that a process that was alone in itself forks as one. It leaves at the process's
end, when it fails, and is not started where Python runs without its lock, since frames of threads
that run may then not be looked at, where gevent stands in for threads, or without our library
(alarm.py).
"""

from __future__ import annotations

import _thread
import os
import random
import signal
import sys
from time import thread_time_ns
from typing import Any

from ..recorder import RECORDER, now_ns
from ..ring import ABSENT
from . import stacks
from .alarm import Alarm, load_alarm, main_thread

#: Between two looks, in the mean; each is drawn from half to one and a half of it.
PERIOD_NS = 45_000_000
#: Looks become rare in a long run: after this time, in proportion to it.
_OFTEN_NS = 60_000_000_000
#: But not rarer than this, in the training process and in a worker.
_LONGEST_PERIOD_NS = 1_000_000_000
_LONGEST_IN_WORKER_NS = 4_000_000_000
#: Looks take at most 1 % of a core: one takes 0.1 to 4 ms of CPU, the latter where others on the
#: machine have emptied its caches meanwhile. Those of about the first 9 s are not waited with.
_PERIODS_PER_COST = 100
_FIRST_LOOKS = 200
#: Different stacks that are told apart; more of them are counted, without a name.
_MOST_KEYS = 4096
_MOST_NAMES = 512
_MOST_THREADS = 8
#: For the thread to leave before a fork.
_PATIENCE_S = 0.05
#: Signals that a thread gets for what it did itself.
_OF_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}


class Sampler:
    """Of one process. All but `_stay` runs in threads of the job, and raises nothing."""

    def __init__(self) -> None:
        self._since_ns = 0  # kept over a fork: workers of later epochs look as rarely as we do
        self._draw = random.Random()
        self.forget()

    def forget(self) -> None:
        """In a forked child, which has none of the parent's other threads."""
        self._threads: dict[int, int] = {}  # by Python's number of it, the kernel's
        self._keys: dict[stacks.Key, int] = {}
        self._names: dict[bytes, int] = {}
        self._codes: list[stacks.Look] = []  # keeps alive what the keys name by address
        self._alarm: Alarm | None = None
        self._begun = 0  # what the thread waits with, while it is to stay
        self._gone: Any = None  # locked until it has left
        self._looks = self._cpu_ns = 0
        self._failed = False

    def watch(self, thread_id: int) -> None:
        """Called by a thread of the job that makes its first record."""
        if len(self._threads) >= _MOST_THREADS or RECORDER.paused:
            return
        self._threads[_thread.get_ident()] = thread_id
        self.resume()

    def resume(self) -> None:
        """Starts the thread, where there is somebody to look at."""
        if self._begun or not self._threads or self._failed or not _is_possible():
            return
        try:
            alarm = self._alarm = self._alarm or load_alarm()
            if alarm is None:
                self._failed = True
                return
            self._since_ns = self._since_ns or now_ns()
            begun, gone = alarm.begin(), _thread.allocate_lock()
            gone.acquire()
            _thread.start_new_thread(self._stay, (alarm, begun, gone))
            self._begun, self._gone = begun, gone
        except Exception as error:  # No more threads: the job has other worries.
            self._failed = True
            RECORDER.note_error(error)

    def pause(self) -> None:
        """The thread leaves; that takes it as long as it takes to wake up."""
        begun, gone = self._begun, self._gone
        self._begun, self._gone = 0, None
        if begun and self._alarm is not None:
            self._alarm.stop()
            gone.acquire(True, _PATIENCE_S)

    def end(self) -> None:
        """At the end of the process: what looking took."""
        self.pause()
        if self._looks:
            RECORDER.describe(stacks={"looks": self._looks, "cpu_ns": self._cpu_ns})
        self._failed = True

    def _stay(self, alarm: Alarm, begun: int, gone: Any) -> None:
        try:
            # A job that blocks a signal to wait for it gets it, as it would alone.
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _OF_FAULTS)
            before = self._cpu_ns - thread_time_ns()
            while True:
                delay_ns = int(self._period_ns() * self._draw.uniform(0.5, 1.5))
                due_ns = alarm.wait(begun, delay_ns, self._threads)
                if due_ns == 0:
                    break
                self._look_around(alarm, due_ns)
                self._cpu_ns = before + thread_time_ns()
        except BaseException as error:  # At the interpreter's end anything may be gone.
            self._failed = True
            if isinstance(error, Exception):
                RECORDER.note_error(error)
        finally:
            gone.release()

    def _period_ns(self) -> int:
        age = max(now_ns() - self._since_ns, _OFTEN_NS)
        cost = self._cpu_ns // self._looks if self._looks >= _FIRST_LOOKS else 0
        longest = _LONGEST_IN_WORKER_NS if RECORDER.is_worker() else _LONGEST_PERIOD_NS
        return min(max(PERIOD_NS * age // _OFTEN_NS, cost * _PERIODS_PER_COST), longest)

    def _look_around(self, alarm: Alarm, due_ns: int) -> None:
        if RECORDER.paused:
            return
        period_ns = self._period_ns()
        for thread_id, at_ns, frames in self._look_at_threads(alarm, due_ns):
            look = stacks.look(frames)
            if RECORDER.is_worker() and not look.marks & stacks.FETCH:
                continue  # It waits to be told what to fetch.
            number = self._keys.get(look.key)
            if number is None:
                number = self._keep(look)
            RECORDER.note_stack(thread_id, at_ns, number, period_ns, max(at_ns - due_ns, 0))
        self._looks += 1

    def _look_at_threads(
        self, alarm: Alarm, due_ns: int
    ) -> list[tuple[int, int, list[stacks.Facts]]]:
        """Each thread's number, when it was so, and its stack."""
        answer = alarm.answer()
        seen = []
        for ident, thread_id in list(self._threads.items()):
            if answer and ident == main_thread():
                seen.append((thread_id, due_ns, answer))
                continue
            facts = alarm.look_at(ident)
            if facts:
                seen.append((thread_id, now_ns(), facts))
            else:
                self._threads.pop(ident, None)
        return seen

    def _keep(self, look: stacks.Look) -> int:
        """The number of a stack that was not seen yet."""
        if len(self._keys) >= _MOST_KEYS:
            return ABSENT
        text = stacks.in_words(look)
        number = self._names.get(text)
        if number is None:
            number = self._write(text)
            self._names[text] = number
        self._codes.append(look)
        self._keys[look.key] = number
        return number

    def _write(self, text: bytes) -> int:
        path = RECORDER.ring_path()
        if path is None or len(self._names) >= _MOST_NAMES:
            return ABSENT
        # Opened each time: a job that closes every file and opens its own gets our number for it.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(path + ".names", flags, 0o644)
        try:
            if os.write(descriptor, text + b"\n") != len(text) + 1:
                raise OSError("the file of names is cut short")
        finally:
            os.close(descriptor)
        return len(self._names)


def _is_possible() -> bool:
    if os.environ.get("UNSTARVE_STACKS") == "off" or "gevent" in sys.modules:
        return False
    locked: Any = getattr(sys, "_is_gil_enabled", None)
    return locked is None or bool(locked())


SAMPLER = Sampler()
RECORDER.on_thread = SAMPLER.watch
RECORDER.before_end.append(SAMPLER.end)
RECORDER.after_fork.append(SAMPLER.forget)
os.register_at_fork(before=SAMPLER.pause, after_in_parent=SAMPLER.resume)
