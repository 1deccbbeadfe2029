"""A worker's own side of resuming: it restores its data set, and notes how far it is.

With each batch a worker notes the state of its data set, or of the iterator of an IterableDataset,
where these have one; how many samples have come of an IterableDataset since then; and Python's,
NumPy's and torch's global generators, once something has drawn from them.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from unstarve.own_state import Questions, can_say
from unstarve.workers.generators import Note, generators, numpy_state, set_generators

# Nobody has asked for the loader's state yet: larger ones would grow the job's memory for nothing.
_BYTES_MAX = 1 << 20


class Sent(NamedTuple):
    """A note on its way to the main process, as bytes until somebody asks for it."""

    own: bytes | None  # what a data set says of itself; None: as it said last
    rest: bytes | None


class Keeper:
    """One worker's side: restores a data set, and notes how far it is.

    `always`: the data set is asked for its state with each batch, at any cost. Otherwise one that
    takes its time is asked now and then, and what was read since is read again by who goes on.
    """

    def __init__(
        self, restored: Note | None, *, with_generators: bool, always: bool = False
    ) -> None:
        self._restored = restored
        self._with_generators = with_generators
        self._always = always
        self._questions = Questions()
        self._dataset: Any = None
        self._fetcher: Any = None
        self._samples: _Counted | None = None
        self._iterator: Any = None
        self._asked: dict[str, Any] = {}  # who can say where they are
        self._is_asked_first = True  # in this epoch
        self._own: Note = {}  # what was said last, after `_own_at` samples
        self._own_at = 0
        self._batches_since = 0
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
        if self._restored is not None and "dataset" in self._restored and can_say(self._dataset):
            self._dataset.load_state_dict(self._restored["dataset"])

    def behind(self, fetcher: Any) -> None:
        """The iterator of an IterableDataset is there."""
        restored, self._restored = self._restored or {}, None
        self._fetcher = fetcher
        self._samples, self._iterator = None, getattr(fetcher, "dataset_iter", None)
        self._own = {name: restored[name] for name in ("dataset", "iterator") if name in restored}
        self._own_at = self._batches_since = 0
        self._asked, self._is_asked_first = self._who_can_say(), True
        if self._iterator is not None:
            if "iterator" in restored and "iterator" in self._asked:
                self._iterator.load_state_dict(restored["iterator"])
            self._samples = fetcher.dataset_iter = _Counted(self._iterator)
            self._samples.skip(restored.get("samples", 0))
            if restored.get("ended"):
                fetcher.ended = True
        if self._with_generators:
            set_generators(restored.get("generators", {}))
            self._at_rest = {} if "generators" in restored else generators()
        self._is_reading = True

    def note_of(self, dataset: Any, *, is_over: bool, at_any_cost: bool) -> Sent | None:
        """Of the process itself, whose loader has this data set."""
        if self._dataset is None:
            self._dataset = dataset
            self._asked = self._who_can_say()
        if is_over:
            return self._note_of_end()
        return self.note(at_any_cost=at_any_cost)

    def note(self, *, is_end: bool = False, at_any_cost: bool = False) -> Sent | None:
        """For the batch that has just been made, or the end of an IterableDataset."""
        if is_end:
            return self._note_of_end()
        self._batches_since += 1
        at_any_cost = at_any_cost or self._always
        is_asked = at_any_cost or self._is_asked_first
        self._is_asked_first = False
        said = None
        if self._asked:
            said = self._questions.ask(lambda: self._say(at_any_cost), at_any_cost=is_asked)
        if said is not None:
            self._said(said[0])
        rest = self._rest(self._questions.why_not)
        if said is None and not rest:
            return None
        return Sent(None if said is None else said[1], pickle.dumps(rest, protocol=5))

    def _note_of_end(self) -> Sent:
        """What the next epoch begins with."""
        rest = {name: value for name, value in self._rest("").items() if name == "generators"}
        questions, own = Questions(), None
        if can_say(self._dataset):
            say = self._dataset.state_dict
            own = questions.ask(lambda: pickle.dumps({"dataset": say()}, protocol=5))
        if questions.why_not:
            rest["without"] = questions.why_not
        return Sent(own or pickle.dumps({}), pickle.dumps(rest, protocol=5))

    def _who_can_say(self) -> dict[str, Any]:
        # One that is its own iterator is restored behind `iter()`, which may begin it anew.
        asked = {} if self._iterator is self._dataset else {"dataset": self._dataset}
        asked["iterator"] = self._iterator
        return {name: one for name, one in asked.items() if can_say(one)}

    def _say(self, at_any_cost: bool) -> tuple[Note, bytes]:
        own = {name: one.state_dict() for name, one in self._asked.items()}
        said = pickle.dumps(own, protocol=5)
        if len(said) > _BYTES_MAX and not at_any_cost:
            raise OverflowError(
                f"{len(said)} bytes are kept only where the loader's state was asked for, or "
                "loaded, before the epoch began"
            )
        return own, said

    def _said(self, own: Note) -> None:
        if own:
            self._own = own
            self._own_at = 0 if self._samples is None else self._samples.count
            self._batches_since = 0

    def _rest(self, why_not: str) -> Note:
        """What there is to say beside the data set's own state."""
        rest: Note = {}
        if getattr(self._fetcher, "ended", False):
            # Within the batch: the data set may say already where its next epoch begins.
            rest["ended"] = True
        if self._samples is not None and self._samples.count > self._own_at:
            rest["samples"] = self._samples.count - self._own_at
        elif self._samples is None and self._own and self._batches_since > 0:
            why_not = why_not or f"it is {self._batches_since} batches old"
        if why_not and self._samples is None:
            rest["without"] = why_not
        if self._with_generators and self._is_reading:
            now = generators()
            moved = {name: state for name, state in now.items() if state != self._at_rest.get(name)}
            if "numpy" in moved:
                moved["numpy"] = numpy_state()
            if moved:
                rest["generators"] = moved
        return rest


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
