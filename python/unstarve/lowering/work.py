"""What the engine is to do: a plan, a list of files, and which file an index means."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unstarve.lowering.plan import Plan
from unstarve.lowering.tables.data_set import TableImages, TableRows


class Samples(list[tuple[Any, Any]]):
    """(path, label) of every file: a copy of a data set's list. All loaders of the data set, and of
    Subsets of it, share it while it stays the same."""

    #: What the engine made of it.
    compiled: Any = None

    @functools.cached_property
    def unlabelled(self) -> Samples:
        """For those who ask for files alone: labels may be anything."""
        return Samples((path, 0) for path, _ in self)


@dataclass(frozen=True)
class Work:
    """What the engine has to do instead of the user's data set."""

    plan: Plan
    #: In the order of the data set's indices; the owner of the data set may change its own list.
    samples: Samples
    #: For Subsets, from the outermost in: an index is looked up in each in turn.
    subsets: tuple[Sequence[int], ...]
    #: Indices of the files that are not named as images that the engine decodes.
    others: frozenset[int] = frozenset()
    #: A label that is not an int, if there is one.
    other_label: Any = None
    #: Of a table: its images, and how batches are made. There are no files then.
    rows: TableRows | None = None
    #: Whether the loader's own `collate_fn` goes on from what torch's default collation gives.
    collates: bool = False

    def is_same(self, other: Work) -> bool:
        """Whether the engine that was made for this can do the other."""
        same_files = self.samples is other.samples or self.samples == other.samples
        same_table = self._images is other._images and self._only_rgb is other._only_rgb
        return self.plan == other.plan and same_files and same_table

    @property
    def _images(self) -> TableImages | None:
        return None if self.rows is None else self.rows.images

    @property
    def _only_rgb(self) -> bool:
        return self.rows is not None and self.rows.only_rgb

    @property
    def count(self) -> int:
        """How many samples there are."""
        images = self._images
        return len(self.samples if images is None else images)

    def native_indices(self, indices: Sequence[Any]) -> list[int]:
        """The files that a batch of the data set's indices means; the errors are a list's."""
        count = self.count
        for subset in self.subsets:
            indices = [subset[index] for index in indices]
        files = [_list_index(index) for index in indices]
        for index in files:
            if not -count <= index < count:
                raise IndexError("list index out of range")
        return [index + count if index < 0 else index for index in files]

    def known_files(self, indices: Sequence[Any]) -> list[int]:
        """The same, without those indices that mean no file."""
        try:
            return self.native_indices(indices)
        except Exception:  # it is the data set's to say what is wrong with one
            if len(indices) <= 1:
                return []
            half = len(indices) // 2
            return self.known_files(indices[:half]) + self.known_files(indices[half:])


def _list_index(index: Any) -> int:
    try:
        return operator.index(index)
    except TypeError:
        kind = type(index).__name__
        raise TypeError(f"list indices must be integers or slices, not {kind}") from None
