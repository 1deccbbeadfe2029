"""Runs a user's Python data set in worker processes whose batches arrive without a copy.

A batch is written once, by the worker, into memory that both processes map and that is used again
and again: arrays are never pickled, nothing lies in /dev/shm, and the steady state neither
allocates nor faults pages in. Everything else is as in torch's DataLoader: order, seeds, errors,
`worker_init_fn`, `get_worker_info()`, timeouts, persistent workers, start methods.

    iterator = unstarve.workers.make_iterator(torch.utils.data.DataLoader(dataset, num_workers=2))
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["make_iterator", "prefers_threads"]


def prefers_threads(loader: Any) -> bool:
    """Whether the workers of `loader`, a torch.utils.data.DataLoader, are threads by default: where
    Python runs without the interpreter lock, unless the loader names a multiprocessing_context or
    reads a data pipe, whose sharding needs processes."""
    from torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    if locked or loader.multiprocessing_context is not None:
        return False
    return not isinstance(loader.dataset, (IterDataPipe, MapDataPipe))


def make_iterator(loader: Any, *, threads: bool | None = None) -> Any:
    """An iterator over `loader`, a torch.utils.data.DataLoader, for one epoch.

    Args:
        loader: a torch.utils.data.DataLoader.
        threads: whether its workers are threads; None: see prefers_threads(). What then differs
            from processes: unstarve.workers.threads.

    With `num_workers=0` it is torch's own. With persistent workers the loader itself calls the
    iterator's `_reset(loader)` for the next epoch, as it does with torch's.

    Batches equal torch's for the same seed. Their tensors lie on memory of the workers, which is
    used again when the last tensor of the batch is gone; a job that keeps many batches gets
    copies.
    """
    from torch.utils.data import dataloader

    if loader.num_workers == 0:
        return dataloader._SingleProcessDataLoaderIter(loader)
    if prefers_threads(loader) if threads is None else threads:
        from unstarve.workers.threads import ThreadIterator

        return ThreadIterator(loader)
    from unstarve.workers.iterator import WorkerIterator

    return WorkerIterator(loader)
