"""Measures, where a trial asks for it, what the job's own batches cost in worker processes.

UNSTARVE_CALIBRATE is a JSON object with `workers` and `seconds`. Before the first batch of the
job's first shuffled loader, batches of random samples are made by one worker process and then by
`workers` of them, for `seconds` each, and thrown away. The job's own code runs in those processes
only, so that nothing in the job changes: no sampler, no random state, no data set. What was found,
or why nothing was, is `fetch_calibration` in the ring's text (docs/formats/run.md).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from . import fix
from .recorder import RECORDER

Clock = Callable[[], float]

#: Seconds for all of it, the start of the processes and their last batches included.
_LONGEST_S = 8.0
#: Of the data set, or two batches where that is more: what each crew reads of it, again and again.
_SHARE_OF_DATA = 0.1
#: More than can be made in the time; drawing indices from millions of samples takes long, too.
_MOST_BATCHES = 1000
#: The least number of batches behind a mean.
_FEWEST = 3
#: Batches that each worker may be ahead: enough that none waits for the next order.
_AHEAD = 2
_LONGEST_REASON = 200
_SHUFFLING = ("RandomSampler", "DistributedSampler")

_asked = False


def apply(loader: Any, loader_id: int) -> None:
    """Called before a DataLoader's iterator is made; raises nothing."""
    global _asked
    if _asked or "UNSTARVE_CALIBRATE" not in os.environ:
        return
    try:
        if _is_shuffled(loader):
            _asked = True
            RECORDER.describe(fetch_calibration={"loader": loader_id, **_outcome(loader)})
    except Exception as error:
        RECORDER.note_error(error)


def _is_shuffled(loader: Any) -> bool:
    """Others are mostly an evaluation's, and what comes of indices drawn by us is theirs alone."""
    kind = type(getattr(loader, "sampler", None))
    return kind.__module__.startswith("torch.utils.data") and kind.__name__ in _SHUFFLING


def _outcome(loader: Any) -> dict[str, Any]:
    try:
        wanted = json.loads(os.environ["UNSTARVE_CALIBRATE"])
        workers = min(int(wanted["workers"]), len(os.sched_getaffinity(0)))
        return measure(loader, workers, float(wanted["seconds"]))
    except fix.RefusedError as reason:
        return {"refused": str(reason)}
    except Exception as error:  # of the job's data set, too: it will meet it again by itself
        # What a worker raised comes with its traceback; the last line says what it was.
        words = (str(error).strip().splitlines() or [""])[-1]
        return {"refused": f"{type(error).__name__}: {words}"[:_LONGEST_REASON]}


def measure(
    loader: Any, workers: int, seconds: float, now: Clock = time.monotonic
) -> dict[str, Any]:
    """Raises fix.RefusedError where it cannot or may not be done, and what the data set raises."""
    _check(loader, workers)
    begun = now()
    with _nothing_changed():
        counts = sorted({1, workers})
        found = [
            _Crew(loader, count, seconds, begun + _LONGEST_S, now).measure() for count in counts
        ]
    return {
        "samples": min(loader.batch_size, len(loader.dataset)),
        "spent_ns": int(1e9 * (now() - begun)),
        "measured": found,
    }


def _check(loader: Any, workers: int) -> None:
    """The conditions are those under which workers are given to the loader at all, and more."""
    if loader.num_workers > 0:
        raise fix.RefusedError("it has workers, whose fetches are recorded")
    if type(loader).__module__.split(".")[0] == "unstarve":
        raise fix.RefusedError("unstarve's loader has no worker processes")
    fix.check_workers(loader, workers * _AHEAD)
    if fix.start_method(loader) != {"multiprocessing_context": "fork"}:
        raise fix.RefusedError("the job has chosen a start method other than fork")


@contextlib.contextmanager
def _nothing_changed() -> Iterator[None]:
    """The job's random states are put back, its warnings stay its own, and no ring records."""
    torch: Any = sys.modules["torch"]
    numpy: Any = sys.modules.get("numpy")
    states = [
        (torch.set_rng_state, torch.get_rng_state()),
        (random.setstate, random.getstate()),
    ]
    if numpy is not None:
        states.append((numpy.random.set_state, numpy.random.get_state()))
    RECORDER.paused = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        RECORDER.paused = False
        for put_back, state in states:
            put_back(state)


class _Timed:
    """Stands in a worker for the collate function: each batch tells when it was ready."""

    def __init__(self, collate: Any) -> None:
        self._collate = collate

    def __call__(self, samples: Any) -> Any:
        batch = self._collate(samples)
        return batch, (os.getpid(), time.process_time_ns(), time.monotonic_ns())


class _EndsWhole:
    """Stands in a worker for the init function: what ends it lets its other threads finish their
    calls that hold the interpreter. torch's own handler ends it at once; amid the call that makes
    a tensor's shared memory that would leave a file in /dev/shm for ever."""

    def __init__(self, init: Any) -> None:
        self._init = init

    def __call__(self, worker: int) -> None:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        if self._init is not None:
            self._init(worker)


class _Orders:
    """Batches of indices drawn from a part of the data set, until told to stop."""

    def __init__(self, length: int, batch_size: int, seed: int) -> None:
        draw = random.Random(seed)
        part = min(int(_SHARE_OF_DATA * length), _MOST_BATCHES * batch_size)
        part = min(length, max(part, 2 * batch_size))
        self._part = draw.sample(range(length), part)
        self._batch_size = min(batch_size, part)
        self.stopped = False

    def __iter__(self) -> Iterator[list[int]]:
        at = 0
        while not self.stopped:
            if at + self._batch_size > len(self._part):
                at = 0
            yield self._part[at : at + self._batch_size]
            at += self._batch_size


class _Crew:
    """So many workers, measured for a while."""

    def __init__(self, loader: Any, workers: int, seconds: float, end: float, now: Clock) -> None:
        module = sys.modules["torch.utils.data.dataloader"]
        self._workers = workers
        self._seconds = seconds
        self._end = end
        self._now = now
        # Another part for each crew: the files of the first are in the page cache by now.
        self._orders = _Orders(len(loader.dataset), loader.batch_size, seed=workers)
        self._loader = module.DataLoader(
            loader.dataset,
            batch_sampler=self._orders,
            num_workers=workers,
            prefetch_factor=_AHEAD,
            collate_fn=_Timed(loader.collate_fn),
            worker_init_fn=_EndsWhole(loader.worker_init_fn),
            multiprocessing_context="fork",
            timeout=max(self._end - now(), 0.1),
            generator=sys.modules["torch"].Generator(),
        )
        #: By process: (CPU time, time) of each batch that it made.
        self._made: dict[int, list[tuple[int, int]]] = {}
        #: CPU time of this thread: to take each batch over, and to let go of it.
        self._received: list[int] = []
        self._released: list[int] = []

    def measure(self) -> dict[str, Any]:
        # Past the wrapped `__iter__` and `__next__`: no loader of the job is at work here.
        iterator = self._loader._get_iterator()
        try:
            self._take_all(iterator)
        finally:
            _end_workers(iterator)
        cpu, wall = self._cycles()
        return {
            "workers": self._workers,
            "batches": len(cpu),
            "cpu_ns": _mean(cpu),
            "wall_ns": _mean(wall),
            "receive_cpu_ns": _mean(self._received[1:]),
            "release_cpu_ns": _mean(self._released[1:]),
        }

    def _take_all(self, iterator: Any) -> None:
        first_at = None
        while True:
            before = time.thread_time_ns()
            try:
                batch, (process, cpu_ns, at_ns) = iterator._next_data()
            except StopIteration:
                return
            received = time.thread_time_ns()
            del batch
            self._released.append(time.thread_time_ns() - received)
            self._received.append(received - before)
            self._made.setdefault(process, []).append((cpu_ns, at_ns))
            now = self._now()
            if now > self._end:
                raise fix.RefusedError(f"it took longer than {_LONGEST_S:g} s")
            first_at = now if first_at is None else first_at
            self._orders.stopped = self._is_enough(now - first_at)

    def _is_enough(self, elapsed_s: float) -> bool:
        """What is ordered already still comes, and counts."""
        taken = len(self._received)
        coming_s = _AHEAD * elapsed_s * self._workers / taken
        fewest = (_FEWEST + 1 - _AHEAD) * self._workers
        return taken >= fewest and elapsed_s + coming_s >= self._seconds

    def _cycles(self) -> tuple[list[int], list[int]]:
        """What a worker used, and how long it took, from one batch to its next."""
        cpu, wall = [], []
        for batches in self._made.values():
            for (cpu_from, wall_from), (cpu_to, wall_to) in zip(batches, batches[1:]):
                cpu.append(cpu_to - cpu_from)
                wall.append(wall_to - wall_from)
        if len(cpu) < _FEWEST:
            raise fix.RefusedError(f"{len(cpu)} batches came in the time given: too few")
        return cpu, wall


def _end_workers(iterator: Any) -> None:
    """Those that still make a batch are not waited for. torch's watch over them ends first, which
    would take their end for a failure."""
    running = [worker for worker in iterator._workers if worker.is_alive()]
    if running and iterator._worker_pids_set:
        signals = sys.modules["torch.utils.data._utils.signal_handling"]
        signals._remove_worker_pids(id(iterator))
        iterator._worker_pids_set = False
        for worker in running:
            worker.terminate()
    iterator._shutdown_workers()


def _mean(values: list[int]) -> list[int]:
    """The mean and its standard error."""
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    error = math.sqrt(squares / max(len(values) - 1, 1) / len(values))
    return [round(mean), round(error)]
