"""Watches torch's DataLoader and unstarve's: what it was told, and every wait for a batch."""

from __future__ import annotations

import json
import sys
import threading
import weakref
from types import FrameType, ModuleType
from typing import Any, Callable, NamedTuple

from . import calibrate, decode, describe, draws, fix, loader_ids, padding, repeats
from .batches import samples_in, samples_of_item
from .lines import places, sampler  # noqa: F401  (the sampler starts with the first record)
from .recorder import FETCH, LOADER, RECORDER, WAIT, now_ns
from .ring import ABSENT
from .stages import Stages, counters
from .steps import STEPS
from .wrap import hide_our_frame, in_the_place_of, put, when_taken_back

try:
    from time import thread_time_ns
except ImportError:  # pragma: no cover  (no per-thread clock on this system)
    thread_time_ns = None  # type: ignore[assignment]

#: Travels to workers, forked or spawned, with `multiprocessing`'s own configuration.
_LOADER_KEY = "unstarve_loader"

#: An attribute of a loader: where it was made.
_MADE_AT = "_unstarve_made_at"

#: Of a loader's flags: its workers are threads of unstarve's engine.
_NATIVE = 4


class Watched:
    """One iteration over a loader."""

    __slots__ = ("batch", "batch_size", "loader_id", "lookers", "stages")

    def __init__(self, loader_id: int, batch_size: int, stages: Stages | None = None) -> None:
        #: Each is given the batches until it says that it knows enough.
        self.lookers: list[repeats.Repeats | padding.Padding] = []
        self.loader_id = loader_id
        self.batch_size = batch_size
        self.stages = stages
        self.batch = 0


class _Here(threading.local):
    """Of this thread: the loader that is being waited for and what a fetch in it adds up."""

    loader_id: int | None = None
    samples = ABSENT
    within_next = False


_here = _Here()


def watch_dataloader(module: ModuleType) -> None:
    """torch.utils.data.dataloader."""
    loader = module.DataLoader
    check = getattr(loader, "check_worker_number_rationality", None)
    if check is not None:
        put(loader, "check_worker_number_rationality", _watched_check(check))
    watched = _watched_iter(loader.__iter__, _torch_settings, _native_of_torch_loader)
    put(loader, "__iter__", watched)
    when_taken_back(_give_back_collate)
    iterator = module._BaseDataLoaderIter
    put(iterator, "__next__", _watched_next(iterator.__next__, _ready_batches))
    workers: Any = getattr(module, "_MultiProcessingDataLoaderIter", None)
    if hasattr(workers, "_shutdown_workers"):
        put(workers, "_shutdown_workers", _watched_shutdown(workers._shutdown_workers))
    fetch = module._utils.fetch
    for fetcher in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
        put(fetcher, "fetch", _watched_fetch(fetcher.fetch))


def watch_unstarve(module: ModuleType) -> None:
    """unstarve.loader, whose iterators may be of any class."""
    loader = module.ImageFolderLoader
    watched = _watched_iter(
        loader.__iter__, _unstarve_settings, _native_of_unstarve_loader, _WatchedIterator
    )
    put(loader, "__iter__", watched)


class Settings(NamedTuple):
    """What a loader was told: the numbers of its record, and words for the ring's text."""

    num_workers: int
    prefetch_factor: int
    batch_size: int
    flags: int
    dataset: dict[str, Any]
    transforms: list[str]


def _torch_settings(loader: Any) -> Settings:
    return Settings(
        loader.num_workers,
        _whole(loader.prefetch_factor) if loader.num_workers > 0 else ABSENT,
        _whole(loader.batch_size),
        int(bool(loader.pin_memory)) | (2 if loader.persistent_workers else 0),
        describe.dataset(loader.dataset),
        describe.transforms(loader.dataset),
    )


def _unstarve_settings(loader: Any) -> Settings:
    """Its threads stand for workers; they take their turns without a factor each."""
    dataset = {"class": describe.class_name(loader), "length": getattr(loader, "sample_count", 0)}
    dataset.update(describe.root(getattr(getattr(loader, "_options", None), "root", None)))
    threads = _whole(getattr(loader, "threads", None))
    return Settings(threads, ABSENT, _whole(loader.batch_size), 0, dataset, [])


def _native_of_torch_loader(loader: Any) -> Any:
    """The compiled loader of an unstarve.DataLoader, where it uses one."""
    engine = loader.__dict__.get("_unstarve_engine")
    return None if engine is None else engine.native


def _native_of_unstarve_loader(loader: Any) -> Any:
    return getattr(loader, "_native", None)


def _in_threads(settings: Settings, native: Any) -> Settings:
    """The settings of a loader whose workers are `native`'s threads."""
    flags = settings.flags | _NATIVE
    return settings._replace(num_workers=native.thread_count, prefetch_factor=ABSENT, flags=flags)


def _whole(value: object) -> int:
    return value if isinstance(value, int) else ABSENT


def _watched_check(original: Any) -> Any:
    """Notes where the job makes a loader, whose `__init__` ends with this: that is where its
    arguments are changed. Trainers read the signature and the code of `__init__` itself."""

    def check_worker_number_rationality(self: Any) -> None:
        try:
            if _MADE_AT not in self.__dict__:
                self.__dict__[_MADE_AT] = describe.place_of_user_code(sys._getframe(1))
        except Exception as error:
            RECORDER.note_error(error)
        try:
            original(self)
        except BaseException as error:
            hide_our_frame(error)
            raise

    return in_the_place_of(original, check_worker_number_rationality)


def _watched_iter(
    original: Any,
    look: Callable[[Any], Settings],
    native_of: Callable[[Any], Any],
    wrap: Any = None,
) -> Any:
    def __iter__(self: Any) -> Any:
        loader_id = _begin(self)
        if wrap is None:
            calibrate.apply(self, loader_id)
            fix.apply(self, loader_id)
        before = native_of(self)
        counted = counters(before)
        start = now_ns()
        try:
            iterator = original(self)
        except BaseException as error:
            hide_our_frame(error)
            raise
        try:
            settings = look(self)
            native = native_of(self)
            stages = None
            if native is not None:
                settings = _in_threads(settings, native)
                counted = counted if native is before else None
                stages = Stages(native, loader_id, start, counted)
            watched = Watched(loader_id, settings.batch_size, stages)
            if wrap is not None:
                iterator = wrap(iterator, watched)
            else:
                lookers = (repeats.of_pass(self, loader_id), padding.of_pass(loader_id))
                watched.lookers = [looker for looker in lookers if looker is not None]
                iterator._unstarve_watched = watched
            RECORDER.record(LOADER, start, now_ns(), loader_id, *settings[:4])
            made_at = getattr(self, "__dict__", {}).get(_MADE_AT)
            _describe_loader(loader_id, settings, made_at, sys._getframe(1))
        except Exception as error:
            RECORDER.note_error(error)
        return iterator

    return in_the_place_of(original, __iter__)


def _begin(loader: Any) -> int:
    """The loader's number, left where the workers it is about to start will find it."""
    try:
        attributes = loader.__dict__
        loader_id: int | None = attributes.get("_unstarve_id")
        if loader_id is None:
            loader_id = loader_ids.of(loader, attributes.get(_MADE_AT))
            attributes["_unstarve_id"] = loader_id
        process = sys.modules.get("multiprocessing.process")
        if process is not None:
            process.current_process()._config[_LOADER_KEY] = loader_id
            places.tell_workers()
        return loader_id
    except Exception as error:
        RECORDER.note_error(error)
        return ABSENT


#: Of the ring's text, what the words about loaders may take. A job may make one for each episode.
_WORDS_BYTES = 2000


class _Words:
    """Of this process, about its loaders."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.described: set[int] = set()
        self.bytes_left = _WORDS_BYTES


_words = _Words()


def _describe_loader(
    loader_id: int, settings: Settings, made_at: str | None, frame: FrameType
) -> None:
    """Once per loader, as long as there is room; the first one, usually the training set's, also at
    the top level."""
    if loader_id in _words.described or _words.bytes_left <= 0:
        return
    _words.described.add(loader_id)
    facts: dict[str, Any] = {
        "dataset": settings.dataset,
        "transforms": settings.transforms,
    }
    iterated_at = describe.place_of_user_code(frame)
    facts["loader_place"] = made_at or iterated_at
    if made_at:
        facts["iterated_at"] = iterated_at
    known = RECORDER.facts("loaders") or {}
    _words.bytes_left -= len(json.dumps(facts))
    if known and _words.bytes_left < 0:
        return
    loaders = dict(known, **{str(loader_id): facts})
    start = places.directory()  # from which places are said
    RECORDER.describe(loaders=loaders, directory=start, **({} if known else facts))


RECORDER.after_fork.append(_words.clear)


def _watched_next(
    original: Any, ready_batches: Callable[[Any], int] | None = None, inner: str | None = None
) -> Any:
    """`original(iterator)`, timed; `inner` names the attribute that holds the iterator, if any."""

    def __next__(self: Any) -> Any:
        try:
            watched = self._unstarve_watched
        except AttributeError:  # Made without DataLoader.__iter__.
            watched = self._unstarve_watched = Watched(loader_ids.new(), ABSENT)
        stages = watched.stages
        if stages is not None:
            ready = stages.ready_batches()
        else:
            ready = ready_batches(self) if ready_batches is not None else ABSENT
        loader_id = _here.loader_id = watched.loader_id
        _here.samples = ABSENT
        iterator = self if inner is None else getattr(self, inner)
        _here.within_next = True
        start = now_ns()
        try:
            data = original(iterator)
        except BaseException as error:
            _here.within_next = False
            ended = 1 if isinstance(error, StopIteration) else 0
            RECORDER.record(WAIT, start, now_ns(), loader_id, watched.batch, ready, 0, ended)
            if stages is not None:
                stages.note(at_end=True)
            hide_our_frame(error)
            raise
        end = now_ns()
        _here.within_next = False
        samples = _here.samples
        if samples == ABSENT:
            samples = samples_in(data, watched.batch_size)
        RECORDER.record(WAIT, start, end, loader_id, watched.batch, ready, samples, 0)
        if stages is not None:
            stages.note()
        if watched.lookers:
            watched.lookers = [looker for looker in watched.lookers if looker.got(data)]
        watched.batch += 1
        STEPS.got(loader_id, samples)
        return data

    return in_the_place_of(original, __next__)


def _watched_shutdown(original: Any) -> Any:
    """Trainers that count batches never ask for one too many: their workers end with the iterator,
    which waits for them in its `__del__`."""

    # At the interpreter's end this module's names may be gone before the last iterator is.
    here, now, record = _here, now_ns, RECORDER.record
    wait, absent = WAIT, ABSENT

    def _shutdown_workers(self: Any) -> None:
        watched = getattr(self, "_unstarve_watched", None)
        if watched is None or here.within_next or getattr(self, "_shutdown", True):
            original(self)
            return
        start = now()
        try:
            original(self)
        finally:
            record(wait, start, now(), watched.loader_id, watched.batch, absent, 0, 1)

    return in_the_place_of(original, _shutdown_workers)


class _WatchedIterator:
    """Stands before an iterator whose class may not be changed, or is not known."""

    def __init__(self, iterator: Any, watched: Watched) -> None:
        self._iterator = iterator
        self._unstarve_watched = watched

    def __iter__(self) -> _WatchedIterator:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)

    def __len__(self) -> int:
        return len(self._iterator)

    __next__ = _watched_next(next, inner="_iterator")


def _ready_batches(iterator: Any) -> int:
    """Batches that workers had finished when the job came asking; absent without workers."""
    waiting = getattr(iterator, "_task_info", None)
    if waiting is None:
        return ABSENT
    try:
        ready: int = sum([len(task) == 2 for task in waiting.values()])
        ready += iterator._worker_result_queue.qsize()
        if iterator._data_queue is not iterator._worker_result_queue:
            ready += iterator._data_queue.qsize()
        return ready
    except Exception as error:
        RECORDER.note_error(error)
        return ABSENT


def _watched_fetch(original: Any) -> Any:
    def fetch(self: Any, possibly_batched_index: Any) -> Any:
        outer = decode.enter_fetch()
        collating = _time_collate(self)
        loader_id = _loader_id()
        state = draws.state_before(loader_id)
        start, cpu = now_ns(), _cpu_ns()
        try:
            data = original(self, possibly_batched_index)
        except BaseException as error:
            decode.leave_fetch(outer)
            hide_our_frame(error)
            raise
        cpu, end = _since(cpu), now_ns()
        decode_ns = decode.leave_fetch(outer)
        samples, collate_ns = (collating.samples, collating.ns) if collating else (ABSENT, ABSENT)
        if not getattr(self, "auto_collation", True):
            samples = samples_of_item(data)
        _here.samples = samples
        RECORDER.record(FETCH, start, end, loader_id, samples, cpu, decode_ns, collate_ns)
        if state is not None:
            draws.compare(loader_id, state)
        return data

    return in_the_place_of(original, fetch)


#: Fetchers in which a _Collate stands, and what stood there.
_collating: weakref.WeakKeyDictionary[Any, Callable[[Any], Any]] = weakref.WeakKeyDictionary()


def _give_back_collate() -> None:
    for fetcher, collate in list(_collating.items()):
        if isinstance(fetcher.collate_fn, _Collate):
            fetcher.collate_fn = collate
    _collating.clear()


class _Collate:
    """Stands in a fetcher for the loader's collate function and times its last call."""

    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self._collate = collate
        self.ns = 0
        self.samples = ABSENT

    def __call__(self, data: Any) -> Any:
        start = decode.cpu_ns()
        try:
            batch = self._collate(data)
        except BaseException as error:
            hide_our_frame(error)
            raise
        self.ns = decode.cpu_ns() - start
        self.samples = len(data) if isinstance(data, list) else ABSENT
        return batch


def _time_collate(fetcher: Any) -> _Collate | None:
    try:
        collate = fetcher.collate_fn
        if not isinstance(collate, _Collate):
            original = collate
            collate = fetcher.collate_fn = _Collate(original)
            _collating[fetcher] = original
        return collate
    except Exception as error:
        RECORDER.note_error(error)
        return None


def _cpu_ns() -> int:
    return thread_time_ns() if thread_time_ns is not None else ABSENT


def _since(cpu: int) -> int:
    return thread_time_ns() - cpu if thread_time_ns is not None else ABSENT


def _loader_id() -> int:
    """In the main process the loader that is being waited for, in a worker the one it is of."""
    if _here.loader_id is None:
        process = sys.modules.get("multiprocessing.process")
        config = process.current_process()._config if process is not None else {}
        _here.loader_id = config.get(_LOADER_KEY, ABSENT)
    return _here.loader_id


def _forget_thread() -> None:
    _here.loader_id = None


RECORDER.after_fork.append(_forget_thread)
