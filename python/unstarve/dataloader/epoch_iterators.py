"""torch's own iterators where Python loads the samples: in this process, in worker processes or
in worker threads.

Each tells the epoch which batches the consumer has got, also where they come out of order, and
follows how far the workers are, so that the loader's state is that of its consumer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import dataloader as torch_loader

from unstarve.engine.partly_native import TaskMaker
from unstarve.order.epoch import Epoch
from unstarve.order.stream import IndexStream
from unstarve.workers import prefers_threads
from unstarve.workers.carried import Carried
from unstarve.workers.keeper import Keeper
from unstarve.workers.places import Places

_Processes: Any
_Threads: Any
try:
    from unstarve.workers.iterator import WorkerIterator as _Processes
    from unstarve.workers.threads import ThreadIterator as _Threads

    HAS_OWN_WORKERS = True
except ImportError:  # without the compiled module
    _Processes = _Threads = torch_loader._MultiProcessingDataLoaderIter
    HAS_OWN_WORKERS = False


def uses_threads(loader: Any) -> bool:
    """Whether what runs its Python are worker threads, not worker processes."""
    return HAS_OWN_WORKERS and prefers_threads(loader)


class Progress:
    """How far the worker processes or threads of a loader's latest iterator are, or, without any,
    its data set."""

    def __init__(
        self,
        workers: int,
        resumed: dict[str, Any] | None,
        *,
        is_within_epoch: bool = False,
        always: bool = False,
    ) -> None:
        #: Whether `resumed` was taken there, and not before an epoch.
        self.is_within_epoch = is_within_epoch
        here = workers == 0
        self.places = Places(max(workers, 1), None if here else resumed, always=always)
        restored = resumed["states"][0] if here and resumed is not None else None
        self.keeper = Keeper(restored, with_generators=False)
        self._workers = workers

    def noted(
        self, dataset: Any, *, is_over: bool, lives_on: bool, is_wanted: bool
    ) -> Callable[[], dict[str, Any] | None]:
        """Makes the state as it is now. Between epochs there is one only of what `lives_on`:
        workers, or the process itself. If it `is_wanted`, the data set is asked at any cost."""
        if is_over and not lives_on:
            return lambda: None
        if self._workers == 0:
            note = self.keeper.note_of(dataset, is_over=is_over, at_any_cost=is_wanted)
            self.places.delivered(0, note)
        places = self.places.as_now()

        def make() -> dict[str, Any] | None:
            state = places.state(is_over=is_over)
            if state is not None and self._workers == 0:
                state |= {"count": 0, "next": 0}
            return state

        return make


class _Epochs:
    """Before torch's iterators: the epoch is told what the consumer has got, and a TaskMaker, where
    there is one, makes tasks of the sampler's indices."""

    _tasks: TaskMaker | None
    _index_sampler: IndexStream
    _sampler_iter: Epoch
    _first_seed: int

    def __init__(self, loader: Any, tasks: TaskMaker | None, progress: Progress) -> None:
        self._tasks = tasks
        self._progress = progress
        self._begin(loader)
        if tasks is not None:
            tasks.begin(self._sampler_iter, self._base_seed)

    def _begin(self, loader: Any) -> None:
        base: Any = super()
        base.__init__(loader)

    @property
    def _base_seed(self) -> int:
        """torch draws it once, behind the first epoch's begin; one that goes on has its own."""
        return self._first_seed

    @_base_seed.setter
    def _base_seed(self, drawn: int) -> None:
        self._first_seed = self._sampler_iter.draw_seed(drawn)
        self._sampler_iter.seed_was_drawn()
        self._seeded()

    def _seeded(self) -> None:
        """All that torch draws before the first batch has been drawn."""

    def _next_index(self) -> Any:
        base: Any = super()
        drawn = base._next_index()
        if self._tasks is None:
            return drawn
        return self._tasks.make(self._sampler_iter, self._base_seed, drawn)

    def _next_data(self) -> Any:
        base: Any = super()
        try:
            return base._next_data()
        except StopIteration:
            self._sampler_iter.finish()
            raise

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        base: Any = super()
        if first_iter:
            # torch's first `_reset()` makes the sampler's iterator a second time.
            self._index_sampler.begin_again(self._sampler_iter)
        base._reset(loader, first_iter)


class InThisProcess(_Epochs, torch_loader._SingleProcessDataLoaderIter):  # type: ignore[misc]
    """torch's own."""

    def _begin(self, loader: Any) -> None:
        keeper = self._progress.keeper
        # A data set's state may be that of the generator which torch's seed comes from: it is as it
        # was before the seed was drawn, or, within an epoch, behind it.
        if not self._progress.is_within_epoch:
            keeper.before(loader.dataset)
        super()._begin(loader)
        keeper.behind(self._dataset_fetcher)

    def _seeded(self) -> None:
        if self._progress.is_within_epoch:
            self._progress.keeper.before(self._dataset)

    def _next_index(self) -> Any:
        index = super()._next_index()
        self._is_drawn = True
        return index

    def _next_data(self) -> Any:
        self._is_drawn = False
        try:
            return super()._next_data()
        finally:
            # A batch that raised has been given to the consumer as well; the end has not.
            if self._is_drawn and not self._sampler_iter.is_finished:
                self._sampler_iter.delivered()


class _FromWorkers(_Epochs):
    """Batches come as Carried."""

    _dataset_kind: Any

    def _delivered(self, carried: Carried) -> None:
        is_map_style = self._dataset_kind == torch_loader._DatasetKind.Map
        # Of an IterableDataset some tasks come to nothing.
        self._sampler_iter.delivered(carried.number if is_map_style else None)
        self._progress.places.delivered(carried.worker, carried.note)

    @property
    def _worker_queue_idx_cycle(self) -> Iterator[int]:
        return self._cycle

    @_worker_queue_idx_cycle.setter
    def _worker_queue_idx_cycle(self, cycle: Iterator[int]) -> None:
        """torch makes one for each epoch; one that goes on begins behind the worker it left off."""
        self._cycle = cycle
        for _ in range(self._progress.places.begins()):
            next(cycle)


class InProcesses(_FromWorkers, _Processes):  # type: ignore[misc]
    """With slots that are shared with worker processes."""

    def _begin(self, loader: Any) -> None:
        if HAS_OWN_WORKERS:
            _Processes.__init__(self, loader, self._progress.places)
        else:
            super()._begin(loader)


class InThreads(_FromWorkers, _Threads):  # type: ignore[misc]
    """With worker threads."""


__all__ = [
    "HAS_OWN_WORKERS",
    "InProcesses",
    "InThisProcess",
    "InThreads",
    "Progress",
    "uses_threads",
]
