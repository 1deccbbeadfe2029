"""The compiled loader of the drop-in: made of a list of files, a plan and a loader's arguments."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any

from unstarve.device.slot_memory import lent_memory
from unstarve.engine.at_work import at_work
from unstarve.engine.native_options import EPOCHS, ask_for_cache, compiled_list, most_pixels
from unstarve.engine.native_plan import native_plan
from unstarve.engine.table_images import compiled_images
from unstarve.errors import UnstarveError
from unstarve.lowering.work import Work

if TYPE_CHECKING:
    from unstarve.engine.native_iterator import NativeIterator

# More than this lies ready in vain: the engine's threads work on a batch together.
_MOST_BATCHES_AHEAD = 8


class NativeEngine:
    """The compiled loader for one list of files and one plan; lives from epoch to epoch."""

    def __init__(self, work: Work, loader: Any) -> None:
        from unstarve import _native

        self.work = work
        self._settings = _settings(loader)
        self._memory = lent_memory(loader)
        self._process = os.getpid()
        #: Its threads and memory are those of all loaders without workers.
        self._shares = loader.num_workers == 0
        self._user: weakref.ref[NativeIterator] | None = None
        self.options: Any = _native.LoaderOptions()
        options = self.options
        #: Whether samples that stay single lie in memory as the data set's own would.
        self.is_interleaved = work.plan.is_interleaved and loader.batch_sampler is None
        options.transform = native_plan(work.plan, "nhwc" if self.is_interleaved else "nchw")
        options.batch_size = loader.batch_size or 1
        options.shuffle = False
        options.accept_damaged = True  # PIL takes what libjpeg makes of it
        options.on_error = _native.OnError.report  # Python has the last word
        threads, ahead = self._settings
        options.max_threads = threads
        options.prefetch_batches = ahead
        options.max_pixels = most_pixels()
        ask_for_cache(options)
        self._native: Any = _opened(options, work, self._memory)
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
        if self._shares:
            at_work.begins(self)
        self._native.begin_submitted_epoch(draw_seed % EPOCHS)

    def next(self, timeout: float) -> Any:
        """The compiled loader's next batch."""
        native = self.native
        if self._shares and native is self._native:
            at_work.asked(self)
        return native.next(timeout)

    def set_reads_ahead(self, reads_ahead: bool) -> None:
        """For AtWork."""
        self._native.set_reads_ahead(reads_ahead)

    def rest(self) -> None:
        """For AtWork."""
        self._native.rest()

    @property
    def native(self) -> Any:
        """The compiled loader; in a forked child, what answers for it there."""
        return self._native if self._process == os.getpid() else _Elsewhere()

    @property
    def lies_in_lent_memory(self) -> bool:
        """Batches are copied to a device, and go then."""
        return self._memory is not None

    def moves(self) -> list[str]:
        """What the engine's controller did, and why."""
        moves = list(self.native.explain())
        if self.samples_by_python:
            moves.append(f"{self.samples_by_python} samples were such as only Python can load")
        return moves

    def stats(self) -> dict[str, Any]:
        """The engine's counters."""
        return {**self.native.stats(), "samples_by_python": self.samples_by_python}


def _opened(options: Any, work: Work, memory: Any) -> Any:
    from unstarve import _native

    if work.rows is None:
        return _native.open_list(options, compiled_list(work.samples), memory)
    images = compiled_images(work.rows.images)
    return _native.open_arrow(options, images, memory, work.rows.only_rgb)


class _Elsewhere:
    """The engine in a forked child, which has none of its threads, and whose locks may be held for
    ever: all that is left is Python's to load."""

    thread_count = 0

    def explain(self) -> list[str]:
        return []

    def stats(self) -> dict[str, Any]:
        return {}

    def wanted_batches(self) -> int:
        return 0

    def take_failed(self) -> tuple[Any, ...]:
        return ()

    def skip_batch(self, files: Any) -> None:
        """Nobody counts."""

    def finish_submitting(self) -> None:
        """Nobody waits."""

    def submit_batch(self, files: Any) -> None:
        raise UnstarveError("the engine's threads live in the process that forked")

    def next(self, timeout: float) -> Any:
        raise UnstarveError("the engine's threads live in the process that forked")


def _settings(loader: Any) -> tuple[int, int]:
    """Most threads (0: as many as the process may use CPUs) and batches ahead (0: the engine's)."""
    if loader.num_workers == 0:
        return 0, 0
    wished = (loader.prefetch_factor or 1) * loader.num_workers
    return loader.num_workers, max(2, min(wished, _MOST_BATCHES_AHEAD))
