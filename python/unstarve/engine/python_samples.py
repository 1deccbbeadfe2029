"""Single samples that only the data set's own Python can load, for the native engine's batches.

Where torch would have worker processes, samples are loaded in such processes too, so that the
training thread stays free and a wait can be ended: they are started when the first sample is asked
for, one by one as there is more to do. What a sample draws from the global generators follows from
the epoch's seed and the sample's place, whoever loads it.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import torch

from unstarve.workers import make_iterator

#: A sample of one iterator: the number of its batch, and its row there.
Key = tuple[int, int]

# A worker that has more before it than this gets company.
_TASKS_PER_WORKER = 2
# Samples that a worker may have before it, or may have loaded for a consumer who does not come:
# they take memory. Others wait for their turn here.
_MOST_AHEAD = 128
# More than ever lie before a worker: those that a consumer waits for come on top.
_MOST_TASKS = 1 << 14


class Task(NamedTuple):
    """One sample of the user's data set, and what its draws follow from."""

    index: Any
    seed: int


class NoAnswerError(Exception):
    """The loader's timeout has passed."""


def settings_of(loader: Any) -> Any:
    """What torch's iterators look at, of a torch DataLoader: without the loader, which may hold
    the iterator that asks."""
    own = {name: value for name, value in vars(loader).items() if name != "_iterator"}
    return SimpleNamespace(**own, multiprocessing_context=loader.multiprocessing_context)


class Samples(Protocol):
    """Loads samples; each is asked for once, ahead of time where that is known."""

    def ask(self, key: Key, task: Task) -> None:
        """Lets the sample be loaded meanwhile."""

    def get(self, key: Key, task: Task) -> Any:
        """What the data set gives for it, or raises; NoAnswerError: it may be asked for again."""

    def forget(self, batch: int) -> None:
        """Samples of that batch are not wanted any more."""

    def close(self) -> None:
        """Ends what was started."""


class SamplesHere:
    """In this process, when they are needed, as torch does without workers."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset

    def ask(self, key: Key, task: Task) -> None:
        """It waits until it is needed."""

    def get(self, key: Key, task: Task) -> Any:
        with draws_from(task.seed):
            return self._dataset[task.index]

    def forget(self, batch: int) -> None:
        """There is nothing to forget."""

    def close(self) -> None:
        """There is nothing to end."""


class SamplesInWorkers:
    """In up to `num_workers` worker processes, or threads where Python has no interpreter lock."""

    def __init__(self, loader: Any, seed: int) -> None:
        self._loader = loader
        self._seed = seed
        self._workers: list[_Worker] = []
        self._later: dict[Key, Task] = {}
        self._loaded: dict[Key, _Answer] = {}

    def ask(self, key: Key, task: Task) -> None:
        self._later[key] = task
        with contextlib.suppress(Exception):  # whoever needs the sample is told
            self._hand_out()

    def get(self, key: Key, task: Task) -> Any:
        while key not in self._loaded:
            worker = next((one for one in self._workers if key in one.asked), None)
            if worker is None:  # its turn had not come, or its worker has died
                self._later.pop(key, None)
                self._free_worker().ask(key, task)
            else:
                self._receive(worker)
                with contextlib.suppress(Exception):
                    self._hand_out()
        answer = self._loaded.pop(key)
        if answer.error is not None:
            raise answer.error
        return answer.sample

    def forget(self, batch: int) -> None:
        waiting: list[dict[Key, Any]] = [self._later, self._loaded]
        for samples in waiting:
            for key in [key for key in samples if key[0] == batch]:
                del samples[key]
        for worker in self._workers:
            worker.forget(batch)

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        self._later.clear()
        self._loaded.clear()

    def _hand_out(self) -> None:
        while self._later:
            worker = self._free_worker()
            if len(worker.asked) >= _MOST_AHEAD:
                return
            key = next(iter(self._later))
            worker.ask(key, self._later.pop(key))

    def _free_worker(self) -> _Worker:
        free = min(self._workers, key=lambda worker: len(worker.asked), default=None)
        if free is not None and len(free.asked) < _TASKS_PER_WORKER:
            return free
        if free is not None and len(self._workers) == self._loader.num_workers:
            return free
        free = _Worker(self._loader, self._seed + len(self._workers))
        self._workers.append(free)
        return free

    def _receive(self, worker: _Worker) -> None:
        try:
            key, answer = worker.receive()
        except NoAnswerError:
            raise
        except Exception:
            self._workers.remove(worker)  # it has died, and its samples with it
            raise
        if key is not None:
            self._loaded[key] = answer


class _Answer(NamedTuple):
    sample: Any
    error: Exception | None


class _Worker:
    """torch's iterator over a single worker, used as a queue of samples."""

    def __init__(self, loader: Any, seed: int) -> None:
        self._tasks = _Tasks()
        self._iterator = make_iterator(_OneWorker(loader, self._tasks, seed))
        #: What it was asked for and has not answered, in order. None: not wanted any more.
        self.asked: deque[Key | None] = deque()

    def ask(self, key: Key, task: Task) -> None:
        self._tasks.append(task)
        self._iterator._try_put_index()
        self.asked.append(key)

    def receive(self) -> tuple[Key | None, _Answer]:
        """The next answer. Raises where there is none: the worker is slow, or dead."""
        iterator = self._iterator
        answered = iterator._rcvd_idx
        try:
            answer = _Answer(next(iterator), None)
        except Exception as error:
            if iterator._rcvd_idx == answered:
                if all(iterator._workers_status):
                    raise NoAnswerError from None
                raise
            # Its frames hold this one: nothing of them is left to the garbage collector.
            answer = _Answer(None, error.with_traceback(None))
        return self.asked.popleft(), answer

    def forget(self, batch: int) -> None:
        for place, key in enumerate(self.asked):
            if key is not None and key[0] == batch:
                self.asked[place] = None

    def close(self) -> None:
        self._iterator._shutdown_workers()


class _Tasks(deque[Task]):
    """In the place of a sampler: what was asked for. It may have more after it had none."""

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        if not self:
            raise StopIteration
        return self.popleft()


class _OneWorker:
    """A DataLoader as torch's iterators see it, with one worker that gives single samples."""

    def __init__(self, loader: Any, tasks: _Tasks, seed: int) -> None:
        self._loader = loader
        self._index_sampler = tasks
        self._auto_collation = False
        self.dataset = SeededSamples(loader.dataset)
        self.collate_fn = _as_it_is
        self.num_workers = 1
        self.prefetch_factor = _MOST_TASKS
        self.pin_memory = False
        self.worker_init_fn = WorkerStart(None)
        # torch's iterator draws the worker's seed: not from the generators of the job.
        self.generator = torch.Generator().manual_seed(seed % (1 << 63))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class SeededSamples:
    """The user's data set in a worker, asked with Tasks."""

    def __init__(self, outermost: Any) -> None:
        self.outermost = outermost

    def __len__(self) -> int:
        return len(self.outermost)

    def __getitem__(self, task: Task) -> Any:
        with draws_from(task.seed):
            return self.outermost[task.index]


def _as_it_is(sample: Any) -> Any:
    return sample


class WorkerStart:
    """The user's `worker_init_fn`, which finds the user's data set in `get_worker_info()`."""

    def __init__(self, function: Callable[[int], None] | None) -> None:
        self._function = function

    def __call__(self, worker: int) -> None:
        from torch.utils.data import get_worker_info

        info: Any = get_worker_info()
        # It refuses to be changed by the usual way.
        object.__setattr__(info, "dataset", info.dataset.outermost)
        if self._function is not None:
            self._function(worker)


@contextlib.contextmanager
def draws_from(seed: int) -> Iterator[None]:
    """Python's, torch's and NumPy's generators follow from `seed`, and go on afterwards as if
    nothing had been drawn."""
    numpy = sys.modules.get("numpy")
    python_state = random.getstate()
    torch_state = torch.get_rng_state()
    numpy_state = None if numpy is None else numpy.random.get_state()
    try:
        random.seed(seed)
        # Not torch.manual_seed(), which seeds the generators of devices as well.
        torch.default_generator.manual_seed(seed % (1 << 63))
        if numpy is not None:
            numpy.random.seed(seed % (1 << 32))
        yield
    finally:
        random.setstate(python_state)
        torch.set_rng_state(torch_state)
        if numpy is not None:
            numpy.random.set_state(numpy_state)


__all__ = [
    "Key",
    "NoAnswerError",
    "Samples",
    "SamplesHere",
    "SamplesInWorkers",
    "Task",
    "WorkerStart",
    "settings_of",
]
