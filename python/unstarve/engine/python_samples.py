"""Single samples that only the data set's own Python can load, for the native engine's batches.

Where torch would have worker processes, samples are loaded in such processes too, so that the
training thread stays free and a wait can be ended: they are started when the first sample is asked
for, one by one as there is more to do. What a sample draws from the global generators follows from
the epoch's seed and the sample's place, whoever loads it.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any, Protocol

from unstarve.engine.sample_worker import (
    Answer,
    Key,
    NoAnswerError,
    SampleTask,
    SampleWorker,
    draws_from,
)

# A worker process (or thread) that has more before it than this gets company.
_TASKS_PER_WORKER = 2
# Samples that one may have before it, or may have loaded for a consumer who does not come:
# they take memory. Others wait for their turn here.
_MOST_AHEAD = 128


def settings_of(loader: Any) -> Any:
    """What torch's iterators look at, of a torch DataLoader: without the loader, which may hold
    the iterator that asks."""
    own = {name: value for name, value in vars(loader).items() if name != "_iterator"}
    return SimpleNamespace(**own, multiprocessing_context=loader.multiprocessing_context)


class Samples(Protocol):
    """Loads samples; each is asked for once, ahead of time where that is known."""

    def ask(self, key: Key, task: SampleTask) -> None:
        """Lets the sample be loaded meanwhile."""

    def get(self, key: Key, task: SampleTask) -> Any:
        """What the data set gives for it, or raises; NoAnswerError: it may be asked for again."""

    def forget(self, batch: int) -> None:
        """Samples of that batch are not wanted any more."""

    def close(self) -> None:
        """Ends what was started."""


class SamplesHere:
    """In this process, when they are needed, as torch does without workers."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset

    def ask(self, key: Key, task: SampleTask) -> None:
        """It waits until it is needed."""

    def get(self, key: Key, task: SampleTask) -> Any:
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
        self._workers: list[SampleWorker] = []
        self._later: dict[Key, SampleTask] = {}
        self._loaded: dict[Key, Answer] = {}

    def ask(self, key: Key, task: SampleTask) -> None:
        self._later[key] = task
        with contextlib.suppress(Exception):  # whoever needs the sample is told
            self._hand_out()

    def get(self, key: Key, task: SampleTask) -> Any:
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

    def _free_worker(self) -> SampleWorker:
        free = min(self._workers, key=lambda worker: len(worker.asked), default=None)
        if free is not None and len(free.asked) < _TASKS_PER_WORKER:
            return free
        if free is not None and len(self._workers) == self._loader.num_workers:
            return free
        free = SampleWorker(self._loader, self._seed + len(self._workers))
        self._workers.append(free)
        return free

    def _receive(self, worker: SampleWorker) -> None:
        try:
            key, answer = worker.receive()
        except NoAnswerError:
            raise
        except Exception:
            self._workers.remove(worker)  # it has died, and its samples with it
            raise
        if key is not None:
            self._loaded[key] = answer
