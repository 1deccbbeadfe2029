"""Lends page-locked memory to a loader whose batches go to a device.

Only a loader that says so by its class takes it: an attribute of the object itself would be found
through wrappers as well.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_LENT = "_unstarve_slot_memory"


def takes_memory(loader: Any) -> bool:
    """Whether its iterators write into memory that is lent to it: `_unstarve_takes_memory` of its
    class says so, as of `unstarve.DataLoader`."""
    return bool(getattr(type(loader), "_unstarve_takes_memory", False))


@contextlib.contextmanager
def lend_memory(loader: Any, memory: Any) -> Iterator[None]:
    """Lets the iterator that is made meanwhile write into `memory`. Only for iterators whose
    batches are kept until their copies are over."""
    loader.__dict__[_LENT] = memory
    try:
        yield
    finally:
        del loader.__dict__[_LENT]


def lent_memory(loader: Any) -> Any:
    """What lend_memory() lends to it now, or None."""
    return vars(loader).get(_LENT)
