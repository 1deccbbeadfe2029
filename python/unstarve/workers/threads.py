"""Worker threads in place of processes, for a Python without the interpreter lock.

The data set is shared by the threads, so its `__getitem__` has to be safe to call from several at
once; processes each have a copy. And the global generators (`random`, `numpy.random`, torch's) are
the process's, so their draws depend on which thread comes first; a data set that wants the same
draws in every run takes them from `get_worker_info().rng`, where torch has it, or from generators
of its own.
"""

from __future__ import annotations

import inspect
import os
import queue
import random
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import _DatasetKind
from torch.utils.data._utils import collate
from torch.utils.data._utils import worker as torch_worker
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter
from torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

from unstarve.workers.carried import Carried, CarryingIterator
from unstarve.workers.iterator import WithContext


class ThreadIterator(CarryingIterator, _MultiProcessingDataLoaderIter):  # type: ignore[misc]
    """torch's iterator on threads; batches are handed over as they are."""

    def __init__(self, loader: Any) -> None:
        if isinstance(loader.dataset, (IterDataPipe, MapDataPipe)):
            raise NotImplementedError("data pipes need worker processes")
        _tell_threads_apart()
        super().__init__(WithContext(loader, ThreadContext()))


class _Queue(queue.Queue[Any]):
    """With what multiprocessing.Queue has beyond."""

    def cancel_join_thread(self) -> None:
        """There is no thread to join."""

    def close(self) -> None:
        """There is nothing to close."""


class ThreadContext:
    """What torch's iterator uses of a multiprocessing context."""

    def Queue(self) -> _Queue:  # noqa: N802  (multiprocessing's name)
        return _Queue()

    def Event(self) -> threading.Event:  # noqa: N802
        return threading.Event()

    def Process(self, target: Callable[..., None], args: tuple[Any, ...]) -> _Worker:  # noqa: N802
        return _Worker(inspect.signature(target).bind(*args).arguments)


class _Worker(threading.Thread):
    """A thread with the face of a process; `plan` holds the arguments of torch's worker loop."""

    exitcode = 0

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__(name=f"unstarve-worker-{plan['worker_id']}", daemon=True)
        self._plan = plan
        self.pid = os.getpid()

    def terminate(self) -> None:
        """A thread cannot be ended from outside; it ends after the sample that it is at."""

    def run(self) -> None:
        plan = self._plan
        # torch 2.15 hands the data set over in a list, so that a worker can let go of it.
        holder = plan.get("dataset_holder")
        dataset = plan["dataset"] if holder is None else holder.pop()
        _here.info = _worker_info(plan, dataset)
        where = f"in DataLoader worker thread {plan['worker_id']}"
        fetcher, failure = None, None
        try:
            if plan["init_fn"] is not None:
                plan["init_fn"](plan["worker_id"])
            fetcher = self._fetcher(dataset)
        except Exception:
            failure = ExceptionWrapper(where=where)
        ended = False
        while (task := plan["index_queue"].get()) is not None:
            if isinstance(task, torch_worker._ResumeIteration):
                plan["data_queue"].put((task, None))
                fetcher, ended = self._fetcher(dataset), False
                continue
            if plan["done_event"].is_set() or ended:
                continue
            index, samples = task
            data: Any
            try:
                if failure is not None:
                    data, failure = failure, None
                else:
                    assert fetcher is not None
                    data = fetcher.fetch(samples)
            except StopIteration:
                ended = plan["dataset_kind"] == _DatasetKind.Iterable
                data = torch_worker._IterableDatasetStopIteration(plan["worker_id"])
                if not ended:
                    data = ExceptionWrapper(where=where)
            except Exception:
                data = ExceptionWrapper(where=where)
            if not isinstance(data, torch_worker._IterableDatasetStopIteration):
                data = Carried(index, plan["worker_id"], data)
            plan["data_queue"].put((index, data))
            del task, samples, data  # a waiting thread keeps no batch

    def _fetcher(self, dataset: Any) -> Any:
        plan = self._plan
        return _DatasetKind.create_fetcher(
            plan["dataset_kind"],
            dataset,
            plan["auto_collation"],
            plan["collate_fn"],
            plan["drop_last"],
        )


class _Here(threading.local):
    """What get_worker_info() returns in a worker thread."""

    info: Any = None


_here = _Here()


def _worker_info(plan: dict[str, Any], dataset: Any) -> Any:
    seed = plan["base_seed"] + plan["worker_id"]
    own: dict[str, Any] = {}
    if "rng" in torch_worker.WorkerInfo.__init__.__annotations__:
        generator = torch.Generator()
        generator.manual_seed(seed)
        own = {
            "rng": torch_worker._RNG(random.Random(seed), generator, _numpy_generator(plan)),
            "worker_method": "thread",
        }
    return torch_worker.WorkerInfo(
        id=plan["worker_id"], num_workers=plan["num_workers"], seed=seed, dataset=dataset, **own
    )


def _numpy_generator(plan: dict[str, Any]) -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy.random.default_rng([plan["worker_id"], plan["base_seed"] % (1 << 64)])


def _tell_threads_apart() -> None:
    """Makes torch's get_worker_info() answer for the thread that asks.

    The function's code is exchanged, not the function: data sets have imported it by name. torch's
    collate function takes an answer for a worker process and would stack into shared memory.
    """
    names = torch_worker.get_worker_info.__globals__
    if "_unstarve_here" in names:
        return
    names["_unstarve_here"] = _here

    def get_worker_info() -> Any:
        return _unstarve_here.info or _worker_info  # type: ignore[name-defined]  # noqa: F821

    torch_worker.get_worker_info.__code__ = get_worker_info.__code__
    table = collate.default_collate_fn_map
    original = table[torch.Tensor]

    def stack(batch: Any, *, collate_fn_map: Any = None) -> Any:
        info, _here.info = _here.info, None
        try:
            return original(batch, collate_fn_map=collate_fn_map)
        finally:
            _here.info = info

    table[torch.Tensor] = stack
