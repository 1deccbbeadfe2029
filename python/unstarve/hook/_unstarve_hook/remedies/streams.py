"""An iterable data set in a worker process of its own: one, which gives the batches in their order.

What it draws by chance it draws from the generators as they were in the training process, so that
its first pass gives what it would have given there.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from . import persistent


def move_to_worker(loader: Any) -> None:
    """A worker that is started anew for each pass forgets what the data set keeps from one to the
    next, so that it lives on. Raises RefusedError where it cannot."""
    persistent.check(loader)
    persistent.keep_workers(loader, also_without=True)
    loader.worker_init_fn = _Generators(loader)


class _Generators:
    """A worker_init_fn for a forked worker, after whose seeding it is called."""

    def __init__(self, loader: Any) -> None:
        torch: Any = sys.modules["torch"]
        numpy: Any = sys.modules.get("numpy")
        self._original = loader.worker_init_fn
        self._python = random.getstate()
        self._torch = torch.get_rng_state()
        self._numpy = None if numpy is None else numpy.random.get_state()
        self._draws_seed = loader.generator is None

    def __call__(self, worker_id: int) -> None:
        torch: Any = sys.modules["torch"]
        random.setstate(self._python)
        torch.set_rng_state(self._torch)
        if self._draws_seed:  # as the training process does for each iterator
            torch.empty((), dtype=torch.int64).random_()
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)
        if self._original is not None:
            self._original(worker_id)
