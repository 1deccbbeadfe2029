"""Numbers a job's loaders, by which all records of one are told from those of another.

`for epoch in ...: for batch in DataLoader(dataset):` makes a loader anew for each pass over the
data; a reader of the script calls that one loader, and so do we: a loader takes the number of one
that is gone, was made at the same place and had the same data and settings.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any, Callable

from . import describe

#: Beyond so many loaders that may be made again, each gets a number of its own.
_MOST = 64

_next: Callable[[], int] = itertools.count().__next__


class _Numbered:
    """A number, and who has it now."""

    __slots__ = ("holder", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.holder: Callable[[], Any] = _nobody


def _nobody() -> None:
    return None


_by_kind: dict[str, list[_Numbered]] = {}


def new() -> int:
    return _next()


def of(loader: Any, made_at: str | None) -> int:
    """The number of a loader that has none yet; `made_at` is the line that made it."""
    if made_at is None:
        return _next()
    facts = (
        made_at,
        describe.class_name(loader),
        describe.dataset(getattr(loader, "dataset", None)),
        getattr(loader, "batch_size", None),
        getattr(loader, "num_workers", None),
    )
    numbered = _by_kind.get(repr(facts), [])
    for one in numbered:
        if one.holder() is None:
            break
    else:
        one = _Numbered(_next())
        if sum(map(len, _by_kind.values())) < _MOST:
            _by_kind.setdefault(repr(facts), numbered).append(one)
    one.holder = weakref.ref(loader)
    return one.number
