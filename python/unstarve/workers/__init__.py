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

__all__ = ["make_iterator"]


def make_iterator(loader: Any, *, threads: bool | None = None) -> Any:
    """An iterator over `loader`, a torch.utils.data.DataLoader, for one epoch.

    Args:
        loader: a torch.utils.data.DataLoader.
        threads: whether its workers are threads; by default they are where Python runs without
            the interpreter lock, unless the loader names a multiprocessing_context. See
            unstarve.workers.threads for what then differs.

    With `num_workers=0` it is torch's own. With persistent workers the loader itself calls the
    iterator's `_reset(loader)` for the next epoch, as it does with torch's.

    Batches equal torch's for the same seed. Their tensors lie on memory of the workers, which is
    used again when the last tensor of the batch is gone; a job that keeps many batches gets
    copies.
    """
    from torch.utils.data import dataloader

    if loader.num_workers == 0:
        return dataloader._SingleProcessDataLoaderIter(loader)
    if threads is None:
        locked = getattr(sys, "_is_gil_enabled", lambda: True)()
        threads = not locked and loader.multiprocessing_context is None
    if threads:
        from unstarve.workers.threads import ThreadIterator

        return ThreadIterator(loader)
    from unstarve.workers.iterator import WorkerIterator

    return WorkerIterator(loader)
