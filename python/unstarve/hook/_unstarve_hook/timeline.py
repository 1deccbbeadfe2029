"""The GPU's timeline of a few steps: torch.profiler in one short window, exported for the importer.

Off unless the job uses CUDA, and our own library (cupti.py) cannot record it. It costs those steps
some of their speed, and the last of them the time to write the file; both are recorded in the
ring's text as `profile`. It gives way to any profiler of the job, at once.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import Any, Callable

from . import cupti
from .recorder import RECORDER, now_ns

_STEPS = "10..16"
#: Set by tools that hold what torch.profiler needs, or that would be disturbed.
_TAKEN = ("NSYS_PROFILING_SESSION_ID", "NV_NSIGHT_INJECTION_PORT_BASE")
#: Steps after the window's start in which the job's own profiler is waited for.
_PATIENCE = 100
#: Steps of the window that are told the reader of the run, to align the clocks.
_MARKS = 12
_BEGINNINGS = ("__enter__", "_prepare_trace")


class Window:
    """From the end of step `first` to the end of step `last`; one per process."""

    def __init__(self, first: int, last: int, device: str) -> None:
        self._first = first
        self._last = last
        self._device = device
        self._profiler: Any = None
        self._step_mark: Any = None
        self._way = GivesWay(self.finish)
        self._length = last - first
        self._begun_ns = 0
        self._marks: list[list[int]] = []
        self._done = False

    def after_step(self, index: int) -> bool:
        """Whether to be called again."""
        if self._done:
            return False
        if self._profiler is None:
            if index < self._first:
                return True
            if index > self._first + _PATIENCE:
                RECORDER.describe(profile={"skipped": "the job was profiling itself"})
                return False
            why_not = why_not_profiled()
            if why_not:
                RECORDER.describe(profile={"skipped": why_not})
                return False
            if not _torch().autograd._profiler_enabled():
                self._last = index + self._length
                self._begin(index)
            return True
        self._mark(None if index >= self._last else index)
        if index >= self._last:
            self.finish("")
        return not self._done

    def _begin(self, index: int) -> None:
        before = now_ns()
        profiler = _torch().profiler
        activities = [profiler.ProfilerActivity.CPU]
        if self._device == "cuda":
            activities.append(profiler.ProfilerActivity.CUDA)
        self._profiler = profiler.profile(activities=activities)
        try:
            quietly(self._profiler.start)
        except BaseException:
            self._profiler = None
            self._done = True
            raise
        self._way.begin()
        self._begun_ns = now_ns()
        RECORDER.describe(profile={"first_step": index + 1, "start_cost_ns": now_ns() - before})
        self._mark(index)

    def _mark(self, index: int | None) -> None:
        """A ProfilerStep from here to the next mark: what readers of traces take for a step."""
        if self._step_mark is not None:
            self._step_mark.__exit__(None, None, None)
            self._step_mark = None
        if index is not None:
            self._step_mark = _torch().profiler.record_function(f"ProfilerStep#{index + 1}")
            before = now_ns()
            self._step_mark.__enter__()
            if len(self._marks) < _MARKS:
                self._marks.append([index + 1, before, now_ns()])

    def finish(self, why_early: str) -> None:
        """Stops and writes the trace. `why_early` is empty when the window was seen to its end."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        self._done = True
        self._way.end()
        ended = now_ns()
        self._mark(None)
        self._drain()
        drained = now_ns()
        profiler.stop()
        facts = dict(RECORDER.facts("profile"), window_ns=ended - self._begun_ns)
        facts["marks"] = self._marks
        if why_early:
            facts["ended_early"] = why_early
        facts["file"] = _export(profiler)
        done = now_ns()
        facts["held_up"] = [drained, done]
        facts["stop_cost_ns"] = done - ended
        RECORDER.describe(profile=facts)

    def _drain(self) -> None:
        """The profiler waits for the device as it stops. That is time of the job, told apart here
        from what stopping costs; what fails is the profiler's to say."""
        if self._device != "cuda":
            return
        try:
            _torch().cuda.synchronize()
        except Exception:
            pass


class GivesWay:
    """Ends a profiler of ours before what must not meet it at work: a profiler that the job starts,
    a fork, whose child may hang in what the profiler holds, and the interpreter's end, at which the
    process would die of it. `finish` is told which."""

    def __init__(self, finish: Callable[[str], object]) -> None:
        self._finish = finish
        self._originals: dict[str, Any] = {}
        self._thread = 0

    def begin(self) -> None:
        self._thread = threading.get_ident()
        atexit.register(self._give_way, "the job ended")
        _AT_WORK.append(self)
        _watch_forks()
        kind = _torch().autograd.profiler.profile
        self._originals = {name: vars(kind)[name] for name in _BEGINNINGS if name in vars(kind)}
        for name, original in self._originals.items():
            setattr(kind, name, self._ending_first(original))

    def _ending_first(self, original: Any) -> Any:
        def begin(profiler: Any, *arguments: Any, **named: Any) -> Any:
            self._give_way("the job started a profiler")
            return original(profiler, *arguments, **named)

        return begin

    def before_fork(self) -> None:
        # Of another thread the profiler cannot be ended.
        if threading.get_ident() == self._thread:
            self._give_way("the job forked")

    def _give_way(self, to: str) -> None:
        try:
            self._finish(to)
        except Exception as error:
            RECORDER.note_error(error)

    def end(self) -> None:
        atexit.unregister(self._give_way)
        if self in _AT_WORK:
            _AT_WORK.remove(self)
        for name, original in self._originals.items():
            setattr(_torch().autograd.profiler.profile, name, original)
        self._originals = {}


#: Those whose profiler is at work.
_AT_WORK: list[GivesWay] = []
_forks_watched = False


def _watch_forks() -> None:
    """Once, since nobody can take it back."""
    global _forks_watched
    if not _forks_watched:
        _forks_watched = True
        os.register_at_fork(before=_before_fork)


def _before_fork() -> None:
    for way in list(_AT_WORK):
        way.before_fork()


def why_not_profiled() -> str:
    """Why no profiler may be started here and now, or nothing.

    It must be possible to end it when the interpreter ends: torch ends one only in the thread that
    started it, and what is left then is the main thread. Where tasks are
    forked (`torch.jit.fork`) 2.1 was seen to crash as its profiler ended, also without us; 2.5, 2.8
    and 2.15 were not.
    """
    if threading.current_thread() is not threading.main_thread():
        return "the job trains beside its main thread"
    if version_of(_torch()) < (2, 5) and has_interop_threads():
        return "PyTorch before 2.5 may crash where forked tasks are profiled"
    return ""


def version_of(torch: Any) -> tuple[int, ...]:
    """(2, 5) of 2.5.1+cu124."""
    words = str(torch.__version__).split("+")[0].split(".")[:2]
    return tuple(int(word) for word in words if word.isdigit())


def has_interop_threads() -> bool:
    """Whether torch has made the pool that runs forked tasks."""
    return "PTThreadPool" in _names_of_threads()


def _names_of_threads() -> set[str]:
    """Of this process's threads; torch names those of its pools."""
    names = set()
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/comm", encoding="ascii", errors="replace") as file:
                names.add(file.read().strip())
        except OSError:  # it has ended
            pass
    return names


def quietly(start: Callable[[], object]) -> None:
    """Kineto writes to stderr as it starts and stops; it reads its log level at the first start."""
    ours = "KINETO_LOG_LEVEL" not in os.environ
    if ours:
        os.environ["KINETO_LOG_LEVEL"] = "99"
    try:
        start()
    finally:
        if ours:
            del os.environ["KINETO_LOG_LEVEL"]


def _export(profiler: Any) -> str:
    """The trace gets its name when it is complete; the first process of a rank keeps it."""
    run_dir = RECORDER.run_dir
    rank = os.environ.get("RANK", "0")
    name = f"kineto-{rank}.json.gz"
    hidden = os.path.join(run_dir, f".{os.getpid()}-{name}")
    try:
        profiler.export_chrome_trace(hidden)
        try:
            os.link(hidden, os.path.join(run_dir, name))
        except FileExistsError:
            name = f"kineto-{rank}-{os.getpid()}.json.gz"
            os.link(hidden, os.path.join(run_dir, name))
    finally:
        if os.path.exists(hidden):
            os.unlink(hidden)
    return name


def window() -> Window | None:
    """The window to watch for, or None where there is nothing to see or somebody else looks."""
    device = os.environ.get("UNSTARVE_PROFILE_DEVICE", "cuda")
    if device == "cuda":
        if not cupti.is_in_use():
            return None
        why_not = cupti.why_not_recording()
        RECORDER.describe(gpu_records={"by": "cupti"} if not why_not else {"why_not": why_not})
        if not why_not:
            return None
    first, _, last = os.environ.get("UNSTARVE_PROFILE_STEPS", _STEPS).partition("..")
    if not last:
        return None
    taken = [name for name in _TAKEN if name in os.environ]
    if "CUDA_INJECTION64_PATH" in os.environ and not cupti.is_asked_for():
        taken.append("CUDA_INJECTION64_PATH")
    if taken:
        RECORDER.describe(profile={"skipped": f"{taken[0]} is set"})
        return None
    return Window(int(first), int(last), device)


def _torch() -> Any:
    return sys.modules["torch"]
