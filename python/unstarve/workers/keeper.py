"""A worker's own side of resuming: it restores its data set, and notes how far it is.

With each batch a worker notes the state of its data set, or of the iterator of an IterableDataset,
where these have `state_dict()`; how many samples came of an IterableDataset that has none; and
Python's, NumPy's and torch's global generators, once something has drawn from them.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from unstarve.workers.generators import Note, generators, numpy_state, set_generators


class Keeper:
    """One worker's side: restores a data set, and notes how far it is."""

    def __init__(self, restored: Note | None, *, with_generators: bool) -> None:
        self._restored = restored
        self._with_generators = with_generators
        self._dataset: Any = None
        self._samples: _Counted | None = None
        self._iterator: Any = None
        self._at_rest: dict[str, Any] = {}
        self._is_reading = False  # else there was an error before the first sample

    def make_fetcher(self, make: Callable[..., Any], kind: Any, dataset: Any, *rest: Any) -> Any:
        """A fetcher that goes on where the worker was."""
        self.before(dataset)
        fetcher = make(kind, dataset, *rest)
        self.behind(fetcher)
        return fetcher

    def before(self, dataset: Any) -> None:
        """The data set is about to be read, or its iterator to be made."""
        self._dataset = getattr(dataset, "outermost", dataset)  # of one that is partly native
        if self._restored is not None and "dataset" in self._restored and _saves(self._dataset):
            self._dataset.load_state_dict(self._restored["dataset"])

    def behind(self, fetcher: Any) -> None:
        """The iterator of an IterableDataset is there."""
        restored, self._restored = self._restored or {}, None
        self._samples, self._iterator = None, getattr(fetcher, "dataset_iter", None)
        if self._iterator is not None:
            if _saves(self._iterator):
                if "iterator" in restored:
                    self._iterator.load_state_dict(restored["iterator"])
            elif not _saves(self._dataset):
                self._samples = fetcher.dataset_iter = _Counted(self._iterator)
                self._samples.skip(restored.get("samples", 0))
        if self._with_generators:
            set_generators(restored.get("generators", {}))
            self._at_rest = {} if "generators" in restored else generators()
        self._is_reading = True

    def state(self, dataset: Any = None) -> Note:
        """As it is now; of `dataset` where nothing has been read yet."""
        note: Note = {}
        dataset = dataset if self._dataset is None else self._dataset
        # One that is its own iterator is restored behind `iter()`, which may begin it anew.
        if _saves(dataset) and self._iterator is not dataset:
            note["dataset"] = dataset.state_dict()
        if _saves(self._iterator):
            note["iterator"] = self._iterator.state_dict()
        elif self._samples is not None:
            note["samples"] = self._samples.count
        if self._with_generators and self._is_reading:
            now = generators()
            moved = {name: state for name, state in now.items() if state != self._at_rest.get(name)}
            if "numpy" in moved:
                moved["numpy"] = numpy_state()
            if moved:
                note["generators"] = moved
        return note

    def state_between_epochs(self, dataset: Any) -> Note:
        """What the next epoch begins with."""
        dataset = dataset if self._dataset is None else self._dataset
        return {"dataset": dataset.state_dict()} if _saves(dataset) else {}

    def note(self, *, is_end: bool = False) -> bytes | None:
        """For the batch that has just been made, or the end of an IterableDataset."""
        state = self.state()
        if is_end:
            state = {"generators": state["generators"]} if "generators" in state else {}
            state |= self.state_between_epochs(self._dataset)
        return pickle.dumps(state, protocol=5) if state else None


def _saves(item: Any) -> bool:
    return hasattr(item, "state_dict") and hasattr(item, "load_state_dict")


class _Counted:
    """An iterator that knows how many samples have come."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        item = next(self._items)
        self.count += 1
        return item

    def skip(self, count: int) -> None:
        for _ in itertools.islice(self, count):
            pass
