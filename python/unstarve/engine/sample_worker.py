"""One worker process or worker thread, which loads single samples of the user's data set.

What a sample draws from the global generators follows from the task's seed, whoever loads it.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from unstarve.workers import make_iterator

#: A sample of one iterator: the number of its batch, and its row there.
Key = tuple[int, int]

# More than ever lie before a worker: those that a consumer waits for come on top.
_MOST_TASKS = 1 << 14


class SampleTask(NamedTuple):
    """One sample of the user's data set, and what its draws follow from."""

    index: Any
    seed: int


class NoAnswerError(Exception):
    """The loader's timeout has passed."""


class Answer(NamedTuple):
    sample: Any
    error: Exception | None


class SampleWorker:
    """torch's iterator over a single process or thread, used as a queue of samples."""

    def __init__(self, loader: Any, seed: int) -> None:
        self._tasks = _Tasks()
        self._iterator = make_iterator(_OneWorker(loader, self._tasks, seed))
        #: What it was asked for and has not answered, in order. None: not wanted any more.
        self.asked: deque[Key | None] = deque()

    def ask(self, key: Key, task: SampleTask) -> None:
        self._tasks.append(task)
        self._iterator._try_put_index()
        self.asked.append(key)

    def receive(self) -> tuple[Key | None, Answer]:
        """The next answer. Raises where there is none: the worker is slow, or dead."""
        iterator = self._iterator
        answered = iterator._rcvd_idx
        try:
            answer = Answer(next(iterator), None)
        except Exception as error:
            if iterator._rcvd_idx == answered:
                if all(iterator._workers_status):
                    raise NoAnswerError from None
                raise
            # Its frames hold this one: nothing of them is left to the garbage collector.
            answer = Answer(None, error.with_traceback(None))
        return self.asked.popleft(), answer

    def forget(self, batch: int) -> None:
        for place, key in enumerate(self.asked):
            if key is not None and key[0] == batch:
                self.asked[place] = None

    def close(self) -> None:
        self._iterator._shutdown_workers()


class _Tasks(deque[SampleTask]):
    """In the place of a sampler: what was asked for. It may have more after it had none."""

    def __iter__(self) -> Iterator[SampleTask]:
        return self

    def __next__(self) -> SampleTask:
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
    """The user's data set in a worker process or thread, asked with SampleTasks."""

    def __init__(self, outermost: Any) -> None:
        self.outermost = outermost

    def __len__(self) -> int:
        return len(self.outermost)

    def __getitem__(self, task: SampleTask) -> Any:
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
