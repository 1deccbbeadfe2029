"""Runs an epoch of a torch DataLoader in the native engine.

The iterator is one of torch's own kind: it draws the indices of each batch from the loader's
sampler when torch would, hands them to the engine a few batches ahead, and gives out the tensors
that lie in the engine's slots.
"""

from __future__ import annotations

import contextlib
import os
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import dataloader as torch_loader

from unstarve import errors
from unstarve.engine.batch import Batch
from unstarve.engine.batch_rows import rows_of
from unstarve.engine.native_engine import NativeEngine
from unstarve.engine.native_options import SEED_STEP
from unstarve.engine.python_samples import Samples, SamplesHere, SamplesInWorkers, settings_of
from unstarve.engine.ready_batch import collate_ready
from unstarve.engine.sample_worker import NoAnswerError, SampleTask, draws_from
from unstarve.lowering.work import Work
from unstarve.order.epoch import Epoch
from unstarve.order.passes import flattened
from unstarve.order.stream import IndexStream


class NativeIterator(torch_loader._BaseDataLoaderIter):  # type: ignore[misc]
    """One epoch, or with `persistent_workers` one after the other.

    A sample that the engine cannot load is loaded by the data set's own Python, whose answer, or
    exception, counts; it holds up nothing but its own batch. Several threads may take batches:
    each gets another.
    """

    _index_sampler: IndexStream
    _sampler_iter: Epoch

    def __init__(self, loader: Any, engine: NativeEngine, work: Work) -> None:
        super().__init__(loader)
        self._sampler_iter.seed_was_drawn()
        if self._num_workers > 0:  # as torch's iterator with workers does
            self._index_sampler.begin_again(self._sampler_iter)
            self._sampler_iter = iter(self._index_sampler)
        self._engine = engine
        self._work = work
        self._rows = rows_of(work)
        self._loader = settings_of(loader)
        self._python: Samples | None = None
        self._process = os.getpid()
        # A signal handler that asks for a batch while one is waited for must not hang.
        self._lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        self.is_over = False
        self._drawn_all = False
        self._drawn = 0  # batches
        self._position: int | None = None  # samples drawn and skipped; None: nothing was drawn
        self._under_way: deque[Batch] = deque()
        self._submitted = 0  # batches
        self._by_place: dict[int, Batch] = {}  # of those submitted and not delivered
        self._seed = self._sampler_iter.draw_seed(self._base_seed)
        self._engine.begin(self, self._seed)
        if self._num_workers > 0:
            self._submit()  # torch draws the first batches here as well

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        with self._lock:
            for batch in self._under_way:
                self._forget(batch)
            super()._reset(loader, first_iter)
            # torch draws no seed here, since its workers live on; the epoch needs one all the same.
            self._base_seed += SEED_STEP
            self._begin()

    def _next_data(self) -> Any:
        if self._process != os.getpid():
            self._go_on_in_child()
        with self._lock:
            return self._next_in_turn()

    def _go_on_in_child(self) -> None:
        """A forked child has a copy of the epoch, and neither threads nor processes for it."""
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._python = None
        for batch in self._under_way:
            waiting = batch.rows - batch.samples.keys()
            batch.rows -= waiting
            self._ask_python(batch, sorted(waiting))

    def _next_in_turn(self) -> Any:
        self._submit()
        if not self._under_way:
            self._end()
            raise StopIteration
        batch = self._under_way[0]
        try:
            data = self._load(batch)
            if self._pin_memory:
                pin_memory = torch_loader._utils.pin_memory.pin_memory
                data = pin_memory(data, self._pin_memory_device)
        except NoAnswerError:
            # The batch may come yet: the next call waits for it again.
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None
        except errors.CancelledError:
            raise
        except Exception:
            self._go_on_behind(batch)
            raise
        self._go_on_behind(batch)
        return data

    def _go_on_behind(self, batch: Batch) -> None:
        """The consumer has the batch, or has been told why not."""
        epoch = self._sampler_iter
        self._under_way.popleft()
        self._forget(batch)
        if batch.is_drawn:
            epoch.delivered()
        self._submit()
        self.is_over = self._drawn_all and not self._under_way

    def _forget(self, batch: Batch) -> None:
        if batch.rows and self._python is not None:
            self._python.forget(batch.number)

    def _end(self) -> None:
        self.is_over = True
        self._sampler_iter.finish()
        if self._python is not None and not self._persistent_workers:
            self._python.close()
            self._python = None

    def _submit(self) -> None:
        """Keeps as many batches under way as the engine wants."""
        native = self._engine.native
        wanted = max(native.wanted_batches(), 0 if self._under_way else 1)
        for _ in range(wanted):
            if self._drawn_all:
                return
            batch = self._draw()
            if batch is None:
                self._drawn_all = True
                native.finish_submitting()
                return
            self._under_way.append(batch)
            self._hand_over(batch)

    def _draw(self) -> Batch | None:
        """The sampler's next batch. What goes wrong here is raised when its turn comes, behind the
        batches before it."""
        batch = Batch(self._drawn)
        self._drawn += 1
        try:
            drawn = self._next_index()
            batch.is_drawn = True
            if self._position is None:
                self._position = self._skip(self._sampler_iter.skipped)
        except StopIteration:
            return None
        except Exception as error:
            batch.failure = error
            return batch
        batch.first = self._position
        try:
            batch.indices = list(drawn) if self._auto_collation else [drawn]
        except Exception as error:
            batch.failure = self._as_told(error)
        self._position += len(batch.indices)
        return batch

    def _skip(self, skipped: list[Any]) -> int:
        """Of a resumed epoch: tells the engine what it had before, so that repeats count; and says
        how many samples that were."""
        samples = flattened(skipped)
        if samples:
            self._engine.native.skip_batch(array("Q", self._work.known_files(samples)))
        return len(samples)

    def _hand_over(self, batch: Batch) -> None:
        """To the engine, and to Python at once what is known to be Python's."""
        if batch.failure is not None:
            return
        try:
            files = array("Q", self._work.native_indices(batch.indices))
            self._engine.native.submit_batch(files)
        except Exception:
            # Indices that the data set may take all the same, or has something to say about.
            self._ask_python(batch, range(len(batch.indices)))
            return
        batch.files = files
        self._by_place[self._submitted] = batch
        self._submitted += 1
        unreadable = self._engine.unreadable
        if not unreadable.isdisjoint(files):
            self._ask_python(batch, (row for row, file in enumerate(files) if file in unreadable))

    def _ask_python(self, batch: Batch, rows: Iterable[int]) -> None:
        """Lets Python load these rows meanwhile, where it has a process or thread for that."""
        if self._python is None:
            here = self._num_workers == 0
            self._python = (
                SamplesHere(self._loader) if here else SamplesInWorkers(self._loader, self._seed)
            )
        for row in rows:
            if row not in batch.rows:
                batch.rows.add(row)
                self._python.ask((batch.number, row), self._task(batch, row))

    def _task(self, batch: Batch, row: int) -> SampleTask:
        """What it draws depends on the epoch, the sample and its place: not on who loads it."""
        file = -1 if batch.files is None else batch.files[row]
        return SampleTask(batch.indices[row], hash((self._seed, file, batch.first + row)))

    def _sample(self, batch: Batch, row: int) -> Any:
        if row not in batch.samples:
            assert self._python is not None
            batch.samples[row] = self._python.get((batch.number, row), self._task(batch, row))
            self._engine.samples_by_python += 1
        return batch.samples[row]

    def _load(self, batch: Batch) -> Any:
        if batch.failure is not None:
            raise batch.failure
        if batch.files is not None and batch.loaded is None:
            self._take_from_engine(batch)
        for row in sorted(batch.rows):
            self._sample(batch, row)  # the first that fails speaks for the batch, as in torch
        if batch.loaded is None:
            return self._collate(batch, batch.samples)
        images, labels = batch.loaded
        assert batch.files is not None
        if batch.rows and not self._fill(batch, images, labels):
            made = (row for row in range(len(batch.indices)) if row not in batch.samples)
            own = {row: self._rows.sample(images, labels, batch.files, row) for row in made}
            return self._collate(batch, {**own, **batch.samples})
        if self._auto_collation:
            made = self._rows.batch(images, labels, batch.files)
            return self._go_on_collating(batch, made) if self._work.collates else made
        return list(self._rows.sample(images, labels, batch.files, 0))

    def _take_from_engine(self, batch: Batch) -> None:
        native = self._engine.native
        try:
            images, labels = self._engine.next(self._timeout)
            labels = torch.from_dlpack(labels)
            if not self._engine.lies_in_lent_memory:
                # Who keeps all labels, as metrics do, must not keep all images with them.
                labels = labels.clone()
            images = torch.from_dlpack(images)
            if self._engine.is_interleaved:
                images = images.permute(0, 3, 1, 2)
            batch.loaded = images, labels
        except TimeoutError:
            raise NoAnswerError from None
        except errors.CancelledError:
            raise
        except errors.UnstarveError:
            # The engine had no memory for it, say: then all of it is Python's.
            batch.files = None
            self._ask_python(batch, range(len(batch.indices)))
        for place, row, lasting in native.take_failed():
            failed = self._by_place[place]
            if lasting and failed.files is not None:
                self._engine.unreadable.add(failed.files[row])
            self._ask_python(failed, (row,))
        del self._by_place[next(iter(self._by_place))]

    def _fill(self, batch: Batch, images: Any, labels: Any) -> bool:
        """Puts Python's samples among the engine's, where they are alike."""
        samples = batch.samples
        if not all(self._rows.fits(sample, images) for sample in samples.values()):
            return False
        for row, sample in samples.items():
            self._rows.fill(images, labels, row, sample)
        return True

    def _go_on_collating(self, batch: Batch, made: Any) -> Any:
        return self._collated(batch, lambda: collate_ready(self._collate_fn, made))

    def _collate(self, batch: Batch, samples: dict[int, Any]) -> Any:
        """As torch would have done with all of them."""
        rows = [samples[row] for row in range(len(batch.indices))]
        given = rows if self._auto_collation else rows[0]
        return self._collated(batch, lambda: self._collate_fn(given))

    def _collated(self, batch: Batch, collate: Callable[[], Any]) -> Any:
        """What the loader's function gives, or its exception. Where torch would have worker
        processes, what it draws follows from the epoch and the batch's place."""
        # Without workers it draws from the job's generators, as torch's does.
        seed = hash((self._seed, batch.first))
        drawing = draws_from(seed) if self._num_workers > 0 else contextlib.nullcontext()
        try:
            with drawing:
                return collate()
        except Exception as error:
            told = self._as_told(error)
            if told is error:
                raise
            raise told from None

    def _as_told(self, error: Exception) -> Exception:
        """While it is handled: an error as it reaches the job where processes form the batches."""
        if self._num_workers == 0:
            return error
        try:
            ExceptionWrapper(where="in DataLoader worker process 0").reraise()
        except Exception as told:
            return told
        return error
