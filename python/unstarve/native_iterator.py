"""Runs an epoch of a torch DataLoader in the native engine.

The iterator is one of torch's own kind: it draws the indices of each batch from the loader's
sampler when torch would, hands them to the engine a few batches ahead, and gives out the tensors
that lie in the engine's slots.
"""

from __future__ import annotations

import os
import sys
import weakref
from array import array
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch.utils.data import dataloader as torch_loader

from unstarve import errors
from unstarve.environment import size_of
from unstarve.index_stream import Epoch
from unstarve.lowering import Work
from unstarve.plan import Plan
from unstarve.transfer import lent_memory, pin

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
        threads, ahead = self._settings
        options.max_threads = threads
        options.prefetch_batches = ahead
        options.max_pixels = most_pixels()
        ask_for_cache(options)
        self._native: Any = _native.open_list(options, *listed(work.samples), self._memory)
        #: Batches that the user's Python loaded, since the engine could not.
        self.given_back = 0

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
        if self.given_back:
            moves.append(f"{self.given_back} batches held a file that only Python could read")
        return moves

    def stats(self) -> dict[str, Any]:
        """The engine's counters."""
        return {**self._native.stats(), "batches_by_python": self.given_back}


def _settings(loader: Any) -> tuple[int, int]:
    """Most threads (0: as many as the process may use CPUs) and batches ahead (0: the engine's)."""
    if loader.num_workers == 0:
        return 0, 0
    wished = (loader.prefetch_factor or 1) * loader.num_workers
    return loader.num_workers, max(2, min(wished, _MOST_BATCHES_AHEAD))


class NativeIterator(torch_loader._BaseDataLoaderIter):  # type: ignore[misc]
    """One epoch, or with `persistent_workers` one after the other."""

    def __init__(self, loader: Any, engine: NativeEngine, work: Work) -> None:
        super().__init__(loader)
        self._engine = engine
        self._work = work
        self._wants_pinned = loader.pin_memory  # also where torch, without CUDA, does not
        self._begin()

    def _begin(self) -> None:
        self.is_over = False
        self._drawn_all = False
        self._started = False
        self._under_way: deque[Any] = deque()  # what the sampler gave, per batch submitted
        self._submitted = array("Q")  # every file of the epoch, to count repeats again
        self._engine.begin(self, self._sampler_iter.draw_seed(self._base_seed))
        if self._num_workers > 0:
            self._submit()  # torch draws the first batches here as well

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        # torch draws no seed here, since its workers live on; the epoch needs one all the same.
        self._base_seed += SEED_STEP
        self._begin()

    def _next_data(self) -> Any:
        epoch: Epoch = self._sampler_iter
        self._submit()
        if not self._under_way:
            self.is_over = True
            epoch.finish()
            raise StopIteration
        data = self._load()
        self._under_way.popleft()
        self._submit()
        self.is_over = self._drawn_all and not self._under_way
        if self._pin_memory:
            data = torch_loader._utils.pin_memory.pin_memory(data, self._pin_memory_device)
        elif self._wants_pinned:
            data = pin(data)
        epoch.delivered()
        return data

    def _submit(self) -> None:
        """Keeps as many batches under way as the engine wants."""
        native = self._engine.native
        wanted = max(native.wanted_batches(), 0 if self._under_way else 1)
        for _ in range(wanted):
            if self._drawn_all:
                return
            try:
                drawn = self._next_index()
            except StopIteration:
                self._drawn_all = True
                native.finish_submitting()
                return
            if not self._started:
                self._started = True
                self._skip(self._sampler_iter.skipped)
            files = self._files(drawn)
            native.submit_batch(files)
            self._submitted.extend(files)
            self._under_way.append(drawn)

    def _files(self, drawn: Any) -> array[int]:
        batch = drawn if self._auto_collation else [drawn]
        return array("Q", self._work.native_indices(batch))

    def _skip(self, skipped: list[Any]) -> None:
        """Of a resumed epoch: tells the engine what it had before, so that repeats count."""
        batches = skipped if skipped and isinstance(skipped[0], list) else [skipped]
        files = array("Q")
        for batch in batches:
            files.extend(self._work.native_indices(batch))
        if files:
            self._engine.native.skip_batch(files)
            self._submitted.extend(files)

    def _load(self) -> Any:
        try:
            images, labels = self._engine.native.next(self._timeout)
        except TimeoutError:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None
        except errors.CancelledError:
            raise
        except errors.UnstarveError as error:
            return self._by_python(error)
        images, labels = torch.from_dlpack(images), torch.from_dlpack(labels)
        if self._auto_collation:
            return [images, labels]
        image = images[0]
        if self._work.plan.is_tv_image:
            image = sys.modules["torchvision.tv_tensors"].Image(image)
        return [image, int(labels[0])]

    def _by_python(self, error: errors.UnstarveError) -> Any:
        """The batch as the data set itself loads it: its answer, or its exception, counts."""
        fetcher = torch_loader._DatasetKind.create_fetcher(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
        )
        try:
            data = fetcher.fetch(self._under_way[0])
        except Exception as own:
            raise own from error
        self._engine.given_back += 1
        self._begin_again()
        return data

    def _begin_again(self) -> None:
        """The engine stopped at the batch that failed; it goes on with the one behind."""
        native = self._engine.native
        later = [self._files(drawn) for drawn in list(self._under_way)[1:]]
        behind = sum(len(files) for files in later)
        self._engine.begin(self, self._sampler_iter.draw_seed(self._base_seed))
        done = self._submitted[: len(self._submitted) - behind]
        if done:
            native.skip_batch(done)
        for files in later:
            native.submit_batch(files)
        if self._drawn_all:
            native.finish_submitting()
