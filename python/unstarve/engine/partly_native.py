"""Data sets of which the engine does the first part of each sample, and Python the rest.

In the processes that load samples, `PartlyNative` stands in the place of the user's data set. It
has the engine read, decode and transform a file as far as the engine knows the transforms, and
gives the result to the transforms behind: a PIL image or a tensor, whatever it would have been.
What it is asked for are `BatchTask`s, which the loader's process makes of the sampler's indices:
with them, random crops depend on an epoch's seed and the sample alone, not on who loads it.
"""

from __future__ import annotations

import os
import threading
from array import array
from typing import Any, NamedTuple

from unstarve import errors
from unstarve.engine.environment import cache_folder, size_of
from unstarve.engine.native_options import EPOCHS, SEED_STEP, compiled_list
from unstarve.engine.native_plan import plan_obstacle
from unstarve.engine.prefix_images import PrefixImages
from unstarve.engine.sample_worker import WorkerStart
from unstarve.lowering.decision import prefix_of
from unstarve.lowering.files import is_decoded
from unstarve.lowering.work import Samples, Work
from unstarve.order.epoch import Epoch
from unstarve.order.passes import flattened

_REPEATS = 1 << 16  # as the engine counts them


class BatchTask(NamedTuple):
    """One batch: files, and what their random crops and flips follow from."""

    epoch: int
    files: list[int]
    #: How often each file was there before in the epoch.
    repeats: list[int]


class TaskMaker:
    """Makes tasks of what a sampler gives, for one iterator."""

    def __init__(self, work: Work, batched: bool) -> None:
        self._work = work
        self._batched = batched
        self._epoch: Epoch | None = None
        self._epochs_begun = 0
        self._number = 0
        self._seen: array[int] | None = None

    def begin(self, epoch: Epoch, base_seed: int) -> None:
        """What is made from now on is of this epoch. Once is enough."""
        if epoch is self._epoch:
            return
        # With persistent worker processes torch draws no seed for a further epoch.
        fresh = base_seed + self._epochs_begun * SEED_STEP
        self._number = epoch.draw_seed(fresh) % EPOCHS
        self._epoch = epoch
        self._epochs_begun += 1
        self._seen = None

    def make(self, epoch: Epoch, base_seed: int, drawn: Any) -> Any:
        """A task; what cannot be one is left as it is, for the data set to say why."""
        self.begin(epoch, base_seed)
        if self._seen is None:
            self._seen = array("H", bytes(2 * len(self._work.samples)))
            self._skip(epoch.skipped)
        try:
            files = self._work.native_indices(drawn if self._batched else [drawn])
        except Exception:
            return drawn
        return BatchTask(self._number, files, [self._count(file) for file in files])

    def _skip(self, skipped: list[Any]) -> None:
        for file in self._work.known_files(flattened(skipped)):
            self._count(file)

    def _count(self, file: int) -> int:
        assert self._seen is not None
        before = self._seen[file]
        self._seen[file] = (before + 1) % _REPEATS
        return before


class _Here(threading.local):
    """What one worker process or worker thread has opened."""

    process: int | None = None
    images: PrefixImages | None = None


class PartlyNative:
    """`dataset`, or Subsets around it, with the first part of each sample done by the engine."""

    def __init__(self, outermost: Any, dataset: Any, files: Any) -> None:
        self.outermost = outermost
        self._dataset = dataset
        #: A FileList where copies are kept: forked worker processes share its memory, others make
        #: one of their own.
        self._files = files
        self._here = _Here()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_here": None, "_files": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(
            state, _here=_Here(), _files=file_list(Samples(state["_dataset"].samples))
        )

    def __len__(self) -> int:
        return len(self.outermost)

    def __getitem__(self, task: Any) -> Any:
        if type(task) is not BatchTask:
            return self.outermost[task]
        return self._sample(task.epoch, task.files[0], task.repeats[0])

    def __getitems__(self, task: Any) -> list[Any]:
        if type(task) is not BatchTask:
            return [self.outermost[index] for index in task]
        pairs = zip(task.files, task.repeats, strict=True)
        return [self._sample(task.epoch, file, repeat) for file, repeat in pairs]

    def _sample(self, epoch: int, file: int, repeat: int) -> Any:
        """As DatasetFolder's `__getitem__`."""
        images, dataset = self._open(), self._dataset
        path, target = dataset.samples[file]
        if images is None or not is_decoded(path):
            return dataset[file]
        try:
            image = images.of_file(path, epoch, file, repeat)
        except errors.UnstarveError:
            return dataset[file]  # whose answer, or exception, counts
        for part in images.rest:
            image = part(image)
        if dataset.target_transform is not None:
            target = dataset.target_transform(target)
        return image, target

    def _open(self) -> PrefixImages | None:
        """Once in each worker, behind what its `worker_init_fn` may have changed."""
        here = self._here
        if here.process != os.getpid():
            prefix = prefix_of(self._dataset)
            possible = prefix is not None and plan_obstacle(prefix.plan) is None
            here.images = None
            if prefix is not None and possible:
                here.images = PrefixImages(prefix, self._files)
            here.process = os.getpid()
        return here.images


def file_list(samples: Samples) -> Any:
    """A FileList where the environment asks for a cache, else None."""
    if not cache_folder():
        return None
    size_of("UNSTARVE_CACHE_BYTES")  # rather refused here than in a worker process
    try:
        return compiled_list(samples)
    except (TypeError, OverflowError):
        return compiled_list(samples.unlabelled)


class LoaderView:
    """A DataLoader as torch's iterators see it, with PartlyNative in the data set's place."""

    def __init__(self, loader: Any, dataset: Any, files: Any) -> None:
        self._loader = loader
        self.dataset = PartlyNative(loader.dataset, dataset, files)
        self.worker_init_fn = WorkerStart(loader.worker_init_fn)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
