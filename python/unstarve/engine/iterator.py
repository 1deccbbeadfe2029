"""Runs an epoch of a torch DataLoader in the native engine.

The iterator is one of torch's own kind: it draws the indices of each batch from the loader's
sampler when torch would, hands them to the engine a few batches ahead, and gives out the tensors
that lie in the engine's slots.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import dataloader as torch_loader

from unstarve import errors
from unstarve.device.pinning import pin
from unstarve.device.slot_memory import lent_memory
from unstarve.engine.environment import size_of
from unstarve.engine.python_samples import (
    NoAnswerError,
    Samples,
    SamplesHere,
    SamplesInWorkers,
    Task,
    settings_of,
)
from unstarve.lowering.plan import Plan
from unstarve.lowering.work import Work
from unstarve.order.epoch import Epoch
from unstarve.order.passes import flattened

# More than this lies ready in vain: the engine's threads work on a batch together.
_MOST_BATCHES_AHEAD = 8

_JPEG_PIXELS_MAX = 65_535 * 65_535

EPOCHS = 1 << 32  # what the engine numbers them with
SEED_STEP = 0x9E3779B97F4A7C15  # odd and without pattern: seeds that follow are far apart


def plan_obstacle(plan: Plan) -> str | None:
    """Why the compiled engine cannot do it, or None."""
    try:
        native_plan(plan)
    except ImportError as missing:
        return f"the compiled module is not there ({missing})"
    except errors.UnstarveError as error:
        return str(error)
    return None


def native_plan(plan: Plan, layout: Literal["nchw", "nhwc"] = "nchw") -> Any:
    """The engine's TransformPlan for it."""
    from unstarve import _native

    native = _native.TransformPlan()
    geometry, given = native.geometry, plan.geometry
    geometry.kind = getattr(_native.GeometryPlan.Kind, given.kind)
    geometry.height, geometry.width = given.size
    if given.resize_short:
        geometry.resize_short = given.resize_short
    geometry.resize_to = given.resize_to
    geometry.scale_min, geometry.scale_max = given.scale
    geometry.ratio_min, geometry.ratio_max = given.ratio
    geometry.interpolation = getattr(_native.Interpolation, given.interpolation)
    geometry.horizontal_flip_probability = plan.horizontal_flip
    geometry.vertical_flip_probability = plan.vertical_flip
    native.colour = [_colour_step(step) for step in plan.colour]
    output = native.output
    output.type = getattr(_native.OutputPlan.Type, plan.dtype)
    output.layout = getattr(_native.OutputPlan.Layout, layout)
    output.scale_to_unit = plan.scale_to_unit
    output.scale_by_reciprocal = plan.scale_by_reciprocal
    output.mean, output.deviation = plan.mean, plan.std
    if plan.erasing is not None:
        native.erasing = _erasing_plan(plan.erasing)
    native.validate()
    return native


def _colour_step(given: Any) -> Any:
    from unstarve import _native

    step = _native.ColourStep()
    step.kind = getattr(_native.ColourStep.Kind, given.kind)
    step.probability = given.probability
    for name in ("brightness", "contrast", "saturation", "hue"):
        setattr(step, name, getattr(given, name))
    return step


def _erasing_plan(given: Any) -> Any:
    from unstarve import _native

    erasing = _native.ErasingPlan()
    erasing.probability = given.probability
    erasing.scale_min, erasing.scale_max = given.scale
    erasing.ratio_min, erasing.ratio_max = given.ratio
    erasing.noise = given.value is None
    erasing.value = (0.0, 0.0, 0.0) if given.value is None else given.value
    return erasing


def ask_for_cache(options: Any) -> None:
    """What the environment says: the way in for a script of which only the import was changed."""
    options.cache_dir = os.environ.get("UNSTARVE_CACHE_DIR", "")
    cache_bytes = size_of("UNSTARVE_CACHE_BYTES") if options.cache_dir else None
    if cache_bytes is not None:
        options.cache_bytes = cache_bytes


def most_pixels() -> int:
    """Of an image that the engine reads: Pillow warns of larger ones, or refuses them, and then
    Python has to load them."""
    most: int | None = sys.modules["PIL.Image"].MAX_IMAGE_PIXELS
    return _JPEG_PIXELS_MAX if most is None else int(most)


def listed(samples: Iterable[tuple[Any, int]]) -> tuple[bytes, array[int]]:
    """Paths and labels as the compiled half takes them."""
    paths = b"".join(os.fsencode(path) + b"\0" for path, _ in samples)
    return paths, array("q", (label for _, label in samples))


class NativeEngine:
    """The compiled loader for one list of files and one plan; lives from epoch to epoch."""

    def __init__(self, work: Work, loader: Any) -> None:
        from unstarve import _native

        self.work = work
        self._settings = _settings(loader)
        self._memory = lent_memory(loader)
        self._process = os.getpid()
        self._user: weakref.ref[NativeIterator] | None = None
        self.options: Any = _native.LoaderOptions()
        options = self.options
        options.transform = native_plan(work.plan)
        options.batch_size = loader.batch_size or 1
        options.shuffle = False
        options.accept_damaged = True  # PIL takes what libjpeg makes of it
        options.on_error = _native.OnError.report  # Python has the last word
        threads, ahead = self._settings
        options.max_threads = threads
        options.prefetch_batches = ahead
        options.max_pixels = most_pixels()
        ask_for_cache(options)
        self._native: Any = _native.open_list(options, *listed(work.samples), self._memory)
        #: Files that the engine cannot read, as far as their names or itself have told.
        self.unreadable = set(work.others)
        self.samples_by_python = 0

    def can_do(self, work: Work, loader: Any) -> bool:
        """Whether a further epoch of `loader` can run on it now."""
        user = None if self._user is None else self._user()
        is_free = user is None or user.is_over
        return (
            is_free
            and self._process == os.getpid()
            and self._settings == _settings(loader)
            and self.options.max_pixels == most_pixels()
            and self._memory is lent_memory(loader)
            and self.work.is_same(work)
        )

    def begin(self, user: NativeIterator, draw_seed: int) -> None:
        """Starts an epoch whose crops and flips follow from `draw_seed`."""
        self._user = weakref.ref(user)
        self._native.begin_submitted_epoch(draw_seed % EPOCHS)

    @property
    def native(self) -> Any:
        """The compiled loader."""
        return self._native

    def moves(self) -> list[str]:
        """What the engine's controller did, and why."""
        moves = list(self._native.explain())
        if self.samples_by_python:
            moves.append(f"{self.samples_by_python} samples were such as only Python can load")
        return moves

    def stats(self) -> dict[str, Any]:
        """The engine's counters."""
        return {**self._native.stats(), "samples_by_python": self.samples_by_python}


def _settings(loader: Any) -> tuple[int, int]:
    """Most threads (0: as many as the process may use CPUs) and batches ahead (0: the engine's)."""
    if loader.num_workers == 0:
        return 0, 0
    wished = (loader.prefetch_factor or 1) * loader.num_workers
    return loader.num_workers, max(2, min(wished, _MOST_BATCHES_AHEAD))


@dataclass(eq=False)
class _Batch:
    """One batch under way."""

    number: int  # of the iterator's batches
    #: The sampler gave it, whatever it is.
    is_drawn: bool = False
    #: What the data set would be asked for; where no batches are formed: one index.
    indices: list[Any] = field(default_factory=list)
    first: int = 0  # how many samples of the epoch come before it
    #: What the engine was asked for; None where it cannot know.
    files: array[int] | None = None
    #: What is raised in its turn, in place of the batch.
    failure: Exception | None = None
    #: What the engine has made of it: images and labels.
    loaded: tuple[Any, Any] | None = None
    #: The rows that Python loads,
    rows: set[int] = field(default_factory=set)
    #: and what it has loaded of them.
    samples: dict[int, Any] = field(default_factory=dict)


class NativeIterator(torch_loader._BaseDataLoaderIter):  # type: ignore[misc]
    """One epoch, or with `persistent_workers` one after the other.

    A sample that the engine cannot load is loaded by the data set's own Python, whose answer, or
    exception, counts; it holds up nothing but its own batch. Several threads may take batches:
    each gets another.
    """

    def __init__(self, loader: Any, engine: NativeEngine, work: Work) -> None:
        super().__init__(loader)
        self._sampler_iter.seed_was_drawn()
        self._engine = engine
        self._work = work
        self._wants_pinned = loader.pin_memory  # also where torch, without CUDA, does not
        self._loader = settings_of(loader)
        self._python: Samples | None = None
        # A signal handler that asks for a batch while one is waited for must not hang.
        self._lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        self.is_over = False
        self._drawn_all = False
        self._drawn = 0  # batches
        self._position: int | None = None  # samples drawn and skipped; None: nothing was drawn
        self._under_way: deque[_Batch] = deque()
        self._submitted = 0  # batches
        self._by_place: dict[int, _Batch] = {}  # of those submitted and not delivered
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
        with self._lock:
            return self._next_in_turn()

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
            elif self._wants_pinned:
                data = pin(data)
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

    def _go_on_behind(self, batch: _Batch) -> None:
        """The consumer has the batch, or has been told why not."""
        epoch: Epoch = self._sampler_iter
        self._under_way.popleft()
        self._forget(batch)
        if batch.is_drawn:
            epoch.delivered()
        self._submit()
        self.is_over = self._drawn_all and not self._under_way

    def _forget(self, batch: _Batch) -> None:
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

    def _draw(self) -> _Batch | None:
        """The sampler's next batch. What goes wrong here is raised when its turn comes, behind the
        batches before it."""
        batch = _Batch(self._drawn)
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

    def _hand_over(self, batch: _Batch) -> None:
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

    def _ask_python(self, batch: _Batch, rows: Iterable[int]) -> None:
        """Lets Python load these rows meanwhile, where it has a worker for that."""
        if self._python is None:
            here = self._num_workers == 0
            self._python = (
                SamplesHere(self._loader) if here else SamplesInWorkers(self._loader, self._seed)
            )
        for row in rows:
            if row not in batch.rows:
                batch.rows.add(row)
                self._python.ask((batch.number, row), self._task(batch, row))

    def _task(self, batch: _Batch, row: int) -> Task:
        """What it draws depends on the epoch, the sample and its place: not on who loads it."""
        file = -1 if batch.files is None else batch.files[row]
        return Task(batch.indices[row], hash((self._seed, file, batch.first + row)))

    def _sample(self, batch: _Batch, row: int) -> Any:
        if row not in batch.samples:
            assert self._python is not None
            batch.samples[row] = self._python.get((batch.number, row), self._task(batch, row))
            self._engine.samples_by_python += 1
        return batch.samples[row]

    def _load(self, batch: _Batch) -> Any:
        if batch.failure is not None:
            raise batch.failure
        if batch.files is not None and batch.loaded is None:
            self._take_from_engine(batch)
        for row in sorted(batch.rows):
            self._sample(batch, row)  # the first that fails speaks for the batch, as in torch
        if batch.loaded is None:
            return self._collate(batch, batch.samples)
        images, labels = batch.loaded
        if batch.rows and not self._fill(batch, images, labels):
            return self._collate(batch, {**self._samples_of(images, labels), **batch.samples})
        if self._auto_collation:
            return [images, labels]
        return list(self._samples_of(images, labels)[0])

    def _take_from_engine(self, batch: _Batch) -> None:
        native = self._engine.native
        try:
            images, labels = native.next(self._timeout)
            batch.loaded = torch.from_dlpack(images), torch.from_dlpack(labels)
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

    def _fill(self, batch: _Batch, images: Any, labels: Any) -> bool:
        """Puts Python's samples among the engine's, where they are alike."""
        samples = batch.samples
        if not all(_fits(sample, images) for sample in samples.values()):
            return False
        for row, (image, label) in samples.items():
            images[row] = image
            labels[row] = label
        return True

    def _samples_of(self, images: Any, labels: Any) -> dict[int, Any]:
        """The engine's rows as the data set would have given them."""
        if self._work.plan.is_tv_image:
            make = sys.modules["torchvision.tv_tensors"].Image
            return {row: (make(images[row]), int(label)) for row, label in enumerate(labels)}
        return {row: (images[row], int(label)) for row, label in enumerate(labels)}

    def _collate(self, batch: _Batch, samples: dict[int, Any]) -> Any:
        """As torch would have done with all of them: its answer, or its exception, counts."""
        rows = [samples[row] for row in range(len(batch.indices))]
        try:
            return self._collate_fn(rows if self._auto_collation else rows[0])
        except Exception as error:
            told = self._as_told(error)
            if told is error:
                raise
            raise told from None

    def _as_told(self, error: Exception) -> Exception:
        """While it is handled: an error as it reaches the job where workers form the batches."""
        if self._num_workers == 0:
            return error
        try:
            ExceptionWrapper(where="in DataLoader worker process 0").reraise()
        except Exception as told:
            return told
        return error


def _fits(sample: Any, images: Any) -> bool:
    """Whether a sample is what the engine's rows are, so that the batch is what torch makes of
    them."""
    if type(sample) is not tuple or len(sample) != 2 or type(sample[1]) is not int:
        return False
    image = sample[0]
    return (
        isinstance(image, torch.Tensor)
        and image.shape == images.shape[1:]
        and image.dtype == images.dtype
        and not image.requires_grad
    )
