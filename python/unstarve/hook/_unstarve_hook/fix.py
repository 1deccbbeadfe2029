"""Gives the job's DataLoaders what `unstarve run --fix` wants to try: workers, prefetch, pinning,
kept samples, or unstarve's own loader in their place.

UNSTARVE_FIX is a JSON object with any of num_workers, prefetch_factor, pin_memory,
persistent_workers and cache (`unstarve.cached()` around the data set), with {"loader": "workers"}
in the worker processes of unstarve's loader; or with {"loader": "unstarve"}, whose num_workers is
the threads of a loader that has workers (without any it takes as many as it may use CPUs by
itself). Workers are limited to the CPUs at hand unless
"beyond_cpus" is true: fetches that wait for storage leave the CPUs alone. A loader is changed when
it is first iterated, and only upwards, unless "fewer" is true: then it is to have fewer workers, or
with num_workers 0 none. The batches and their order stay as they are (in workers and with
unstarve's loader, random transforms draw other numbers); where that, or the job itself, would be at
risk, the loader is left alone and the reason recorded.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from .recorder import RECORDER
from .remedies import kept_samples, persistent, streams
from .remedies.refusal import RefusedError as RefusedError

_MAP_STYLE = 0
#: What a batch of 224 x 224 float images takes in /dev/shm, for want of a better guess.
_SAMPLE_BYTES = 3 * 224 * 224 * 4
#: More than anybody needs, whatever the variable says.
_MOST_BEYOND_CPUS = 64
#: Libraries whose open files or handles do not survive a fork, or share their position after it.
_HANDLES = ("h5py", "lmdb", "netCDF4", "sqlite3", "tarfile", "tables", "zarr", "zipfile")


def _wanted() -> dict[str, Any]:
    text = os.environ.get("UNSTARVE_FIX")
    fix: dict[str, Any] = json.loads(text) if text else {}
    return fix


def apply(loader: Any, loader_id: int) -> None:
    """Called before a DataLoader's iterator is made; raises nothing."""
    try:
        if "UNSTARVE_FIX" not in os.environ:
            return
        if "_unstarve_fixed" in loader.__dict__:
            persistent.begin_epoch(loader)
            if _wanted().get("cache"):
                kept_samples.keep_samples(loader)
            return
        loader.__dict__["_unstarve_fixed"] = True
        before = _settings(loader)
        wanted = _wanted()
        if wanted.get("loader") == "unstarve":
            _put_ours_in_its_place(loader, "native")
            loader.__dict__["num_workers"] = _threads(loader, wanted)
            if wanted.get("pin_memory") and _cuda_in_use():
                loader.pin_memory = True
            after = {"loader": "unstarve", "num_workers": loader.num_workers}
            _add("fix_applied", loader=loader_id, before=before, after=after)
            return
        changes = _changes(loader, wanted)
        if changes:
            _set(loader, changes)
        if wanted.get("persistent_workers") and persistent.keep_workers(loader):
            changes["persistent_workers"] = True
        if wanted.get("cache") and kept_samples.keep_samples(loader):
            changes["cache"] = True
        if wanted.get("loader") == "workers":
            _put_ours_in_its_place(loader, "workers")
            changes["loader"] = True
        if changes:
            _add("fix_applied", loader=loader_id, before=before, after=_settings(loader))
    except RefusedError as reason:
        _add("fix_refused", loader=loader_id, reason=str(reason))
    except Exception as error:
        RECORDER.note_error(error)
        _add("fix_refused", loader=loader_id, reason=f"{type(error).__name__}: {error}")


def _threads(loader: Any, wanted: dict[str, Any]) -> int:
    """What the script would give our loader as num_workers: nothing else has its arguments taken
    and its random numbers drawn as they are then."""
    threads = min(int(wanted.get("num_workers", 0)), _MOST_BEYOND_CPUS)
    if threads and (wanted.get("beyond_cpus") or loader.num_workers > 0):
        return threads
    return int(loader.num_workers)


def _put_ours_in_its_place(loader: Any, engine: str) -> None:
    """The object stays, so that whoever holds it sees no change; only its class is another.
    `engine`: by which it has to load then."""
    torch_class = sys.modules["torch.utils.data.dataloader"].DataLoader
    if type(loader) is not torch_class:
        raise RefusedError(f"a {type(loader).__qualname__}, not torch's own DataLoader")
    try:
        from unstarve.dataloader import DataLoader
    except ImportError as missing:
        raise RefusedError(f"unstarve cannot be imported in the job's Python: {missing}") from None
    loader.__class__ = DataLoader
    explanation = None
    try:
        explanation = loader.explain()
    finally:
        if explanation is None or explanation.engine != engine:
            loader.__class__ = torch_class
    if explanation.engine != engine:
        how = "natively" if engine == "native" else "by workers of unstarve's"
        raise RefusedError(f"not to be loaded {how}: {explanation.reason}")


def _set(loader: Any, changes: dict[str, Any]) -> None:
    workers = loader.num_workers
    try:
        for name, value in changes.items():
            setattr(loader, name, value)
    except BaseException:
        loader.num_workers = workers
        raise


def _add(key: str, **facts: object) -> None:
    RECORDER.describe(**{key: [*(RECORDER.facts(key) or []), facts]})


def _settings(loader: Any) -> dict[str, Any]:
    return {
        "num_workers": loader.num_workers,
        "prefetch_factor": loader.prefetch_factor if loader.num_workers else None,
        "pin_memory": bool(loader.pin_memory),
        **({"persistent_workers": True} if loader.persistent_workers else {}),
    }


def _changes(loader: Any, fix: dict[str, Any]) -> dict[str, Any]:
    """Attributes to set, in this order; empty where the loader has all of it already."""
    changes: dict[str, Any] = {}
    workers = min(int(fix.get("num_workers", 0)), _most_workers(fix))
    is_stream = loader._dataset_kind != _MAP_STYLE
    if is_stream and workers > 0 and workers != loader.num_workers:
        workers = _workers_of_a_stream(loader, workers)
    if fix.get("fewer") and 0 < workers < loader.num_workers:
        changes["num_workers"] = workers
    if fix.get("fewer") and fix.get("num_workers") == 0 and loader.num_workers > 0:
        return _without_workers(loader)
    if workers > loader.num_workers:
        check_workers(loader, workers * int(fix.get("prefetch_factor") or 2))
        changes["num_workers"] = workers
        if fix.get("beyond_cpus"):  # torch warns of more workers than CPUs
            changes["check_worker_number_rationality"] = _say_nothing
        if loader.num_workers == 0:
            method = start_method(loader)
            if is_stream:
                _move_stream(loader, method)
            changes.update(method, prefetch_factor=2)
    prefetch = int(fix.get("prefetch_factor") or 0)
    if changes.get("num_workers", loader.num_workers) and prefetch > (loader.prefetch_factor or 0):
        changes["prefetch_factor"] = prefetch
    if fix.get("pin_memory") and not loader.pin_memory and _cuda_in_use():
        changes["pin_memory"] = True
    return changes


def _without_workers(loader: Any) -> dict[str, Any]:
    """What torch takes with workers only goes with them."""
    if loader._dataset_kind != _MAP_STYLE:
        raise RefusedError("an iterable data set: another number of workers has another order")
    if loader.worker_init_fn is not None:
        raise RefusedError("worker_init_fn, which may set up what the data set needs")
    return {"num_workers": 0, "multiprocessing_context": None, "timeout": 0}


def _move_stream(loader: Any, method: dict[str, Any]) -> None:
    if not method:
        raise RefusedError("an iterable data set, and a start method other than fork")
    streams.move_to_worker(loader)


def _most_workers(fix: dict[str, Any]) -> int:
    return _MOST_BEYOND_CPUS if fix.get("beyond_cpus") else len(os.sched_getaffinity(0))


def _workers_of_a_stream(loader: Any, workers: int) -> int:
    """Of several workers each delivers all of an iterable data set, or, where that divides itself,
    in another order."""
    if loader.num_workers > 0:
        raise RefusedError("an iterable data set: another number of workers has another order")
    if workers > 1:
        _add(
            "fix_limited",
            reason=f"an iterable data set: each of {workers} workers would deliver all of it",
        )
    return 1


def _say_nothing() -> None:
    pass


def check_workers(loader: Any, batches: int) -> None:
    if loader.batch_sampler is None:
        raise RefusedError("batch_size is None: samples would cross between processes one by one")
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.current_process().daemon:
        raise RefusedError("the loader runs in a daemon process, which may not start workers")
    batch_size = loader.batch_size if isinstance(loader.batch_size, int) else 1
    _check_shared_memory(batches * batch_size * _SAMPLE_BYTES)
    for name, value in _attributes(loader.dataset):
        _check_attribute(name, value)


def _check_shared_memory(needed: int) -> None:
    try:
        state = os.statvfs("/dev/shm")
    except OSError:
        return
    free = state.f_bavail * state.f_frsize
    if free < needed:
        raise RefusedError(
            f"/dev/shm has {free >> 20} MiB free and the batches under way may take "
            f"{needed >> 20} MiB: workers would die of SIGBUS (docker: --shm-size)"
        )


def _attributes(dataset: object) -> Iterator[tuple[str, object]]:
    for _ in range(4):
        attributes = getattr(dataset, "__dict__", {})
        yield from attributes.items()
        dataset = attributes.get("dataset")


def _check_attribute(name: str, value: object) -> None:
    module = type(value).__module__.split(".")[0]
    if isinstance(value, io.IOBase) or module in _HANDLES:
        raise RefusedError(f"the data set holds an open {type(value).__name__} in `{name}`")
    if module == "torch" and getattr(value, "is_cuda", False):
        raise RefusedError(f"the data set holds a tensor on the GPU in `{name}`")


def start_method(loader: Any) -> dict[str, Any]:
    """fork, the method that takes every data set, unless the job has chosen another."""
    import multiprocessing

    chosen = multiprocessing.get_start_method(allow_none=True)
    if chosen in (None, "fork"):
        if "fork" not in multiprocessing.get_all_start_methods():
            raise RefusedError("this system cannot fork")
        return {"multiprocessing_context": "fork"}
    for thing in (loader.dataset, loader.collate_fn, loader.worker_init_fn):
        _check_picklable(thing, chosen)
    if not _main_is_guarded():
        raise RefusedError(
            f"start method {chosen}, and the script has no `if __name__ == '__main__'`"
        )
    return {}


def _check_picklable(thing: object, method: str) -> None:
    import pickle

    try:
        pickle.Pickler(_Nowhere(), pickle.HIGHEST_PROTOCOL).dump(thing)
    except RefusedError:
        raise
    except Exception as error:
        raise RefusedError(f"start method {method}, and not picklable: {error}") from None


class _Nowhere:
    """Takes a pickle and keeps nothing; stops one that would take long."""

    _left = 64 << 20

    def write(self, data: bytes, /) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise RefusedError(
                "a data set of more than 64 MiB, which each worker would get a copy of"
            )
        return len(data)


def _main_is_guarded() -> bool:
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if file is None:
        return False
    with open(file, encoding="utf-8", errors="replace") as source:
        return "__main__" in source.read()


def _cuda_in_use() -> bool:
    """Pinning without a CUDA device prints a warning; it also makes a context, if there is none."""
    torch: Any = sys.modules["torch"]
    return bool(torch.cuda.is_available() and torch.cuda.is_initialized())
