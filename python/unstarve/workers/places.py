"""How far each worker is: what it takes to go on behind the last batch that the consumer got.

With each batch a worker notes the state of its data set, or of the iterator of an IterableDataset,
where these have `state_dict()`; how many samples came of an IterableDataset that has none; and
Python's, NumPy's and torch's global generators, once something has drawn from them. The main
process keeps the note of each worker's last batch that was delivered, as bytes, until somebody
asks for the loader's state.
"""

from __future__ import annotations

import base64
import ctypes
import itertools
import os
import pickle
import random
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from unstarve.errors import InvalidArgumentError

_Note = dict[str, Any]
_NUMPY_STATE_BYTES = 625 * 4  # 624 words and the place among them
_MERSENNE = struct.Struct("<625I")  # Python's generator: 624 words and the place among them


class Carried:
    """A batch on its way from a worker, with what it needs to be counted when it is delivered."""

    __slots__ = ("data", "note", "number", "worker")

    def __init__(self, number: int, worker: int, data: Any, note: bytes | None = None) -> None:
        self.number = number  # as the main process counts the epoch's tasks
        self.worker = worker
        self.data = data
        self.note = note

    def pin_memory(self, device: Any = None) -> Carried:
        """Called by torch's thread that pins."""
        from torch._utils import ExceptionWrapper
        from torch.utils.data._utils import pin_memory

        if not isinstance(self.data, ExceptionWrapper):
            self.data = pin_memory.pin_memory(self.data, device)
        return self


class CarryingIterator:
    """Before one of torch's iterators: its workers' batches come as Carried."""

    #: Until torch says otherwise there is nothing to shut down, as where a sampler raises.
    _shutdown = True

    _made_in = -1

    def __init__(self, loader: Any) -> None:
        self._made_in = os.getpid()
        base: Any = super()
        base.__init__(loader)

    def __del__(self, here: Callable[[], int] = os.getpid) -> None:
        # A worker of another loader may inherit this by fork; the processes are not its children.
        if self._made_in == here():
            base: Any = super()
            base.__del__()

    def _delivered(self, carried: Carried) -> None:
        """The consumer gets this batch, or its exception, now."""

    def _process_data(self, data: Any, *worker: Any) -> Any:
        base: Any = super()
        if isinstance(data, Carried):
            self._delivered(data)
            data = data.data
        return base._process_data(data, *worker)


class Keeper:
    """One worker's side: restores a data set, and notes how far it is."""

    def __init__(self, restored: _Note | None, *, with_generators: bool) -> None:
        self._restored = restored
        self._with_generators = with_generators
        self._dataset: Any = None
        self._samples: _Counted | None = None
        self._iterator: Any = None
        self._at_rest: dict[str, Any] = {}
        self._is_reading = False  # else there was an error before the first sample

    def watch(self) -> None:
        """From now on in this process, whatever torch's worker loop makes a fetcher of."""
        from torch.utils.data import _DatasetKind

        make = _DatasetKind.create_fetcher

        def create_fetcher(kind: Any, dataset: Any, *rest: Any) -> Any:
            return self.make_fetcher(make, kind, dataset, *rest)

        _DatasetKind.create_fetcher = staticmethod(create_fetcher)

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
            _set_generators(restored.get("generators", {}))
            self._at_rest = {} if "generators" in restored else _generators()
        self._is_reading = True

    def state(self, dataset: Any = None) -> _Note:
        """As it is now; of `dataset` where nothing has been read yet."""
        note: _Note = {}
        dataset = dataset if self._dataset is None else self._dataset
        # One that is its own iterator is restored behind `iter()`, which may begin it anew.
        if _saves(dataset) and self._iterator is not dataset:
            note["dataset"] = dataset.state_dict()
        if _saves(self._iterator):
            note["iterator"] = self._iterator.state_dict()
        elif self._samples is not None:
            note["samples"] = self._samples.count
        if self._with_generators and self._is_reading:
            now = _generators()
            moved = {name: state for name, state in now.items() if state != self._at_rest.get(name)}
            if "numpy" in moved:
                moved["numpy"] = _numpy_state()
            if moved:
                note["generators"] = moved
        return note

    def state_between_epochs(self, dataset: Any) -> _Note:
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


class Places:
    """The main process's side, for the workers of one iterator."""

    def __init__(self, workers: int, resumed: dict[str, Any] | None = None) -> None:
        self._workers = workers
        self._resumed: list[_Note | None] = [None] * workers
        #: The worker that is given the first batch.
        self.first = 0
        self._last: int | None = None
        self._notes: dict[int, bytes | None] = {}
        self._ends: dict[int, bytes | None] = {}
        if resumed is not None:
            self._resumed = [_from_plain(note) for note in resumed["states"]]
            self.first = int(resumed["next"])

    def restored(self, worker: int) -> _Note | None:
        """What a worker that is started now has to go on from."""
        return self._resumed[worker]

    def begins(self) -> int:
        """The first worker of an epoch; of the epochs behind it is worker 0, as in torch."""
        first, self.first = self.first, 0
        self._last = first - 1 if first > 0 else None
        return first

    def delivered(self, worker: int, note: bytes | None) -> None:
        self._last = worker
        self._notes[worker] = note

    def begins_again(self, worker: int, note: bytes | None) -> None:
        """A worker that lives on has been told of a further epoch."""
        self._notes[worker] = note
        self._ends.pop(worker, None)

    def ended(self, worker: int, note: bytes | None) -> None:
        """Its IterableDataset is at its end; batches of it may still be on their way."""
        self._ends[worker] = note

    def state(self, *, is_over: bool) -> dict[str, Any] | None:
        """Plain values, but for what data sets put in; None: there is nothing to say."""
        notes = {**self._notes, **self._ends} if is_over else self._notes
        states = [
            self._plain(notes[worker]) if worker in notes else _to_plain(self._resumed[worker])
            for worker in range(self._workers)
        ]
        following = 0 if self._last is None or is_over else (self._last + 1) % self._workers
        if not any(states) and following == 0:
            return None
        return {"count": self._workers, "next": following, "states": states}

    @staticmethod
    def _plain(note: bytes | None) -> _Note | None:
        return _to_plain(None if note is None else pickle.loads(note))


def checked(state: dict[str, Any] | None, workers: int, *, iterable: bool) -> Any:
    """What a loader's state says of its workers, if that many can go on from it, or None."""
    if state is None or int(state["count"]) == workers:
        return state
    if not iterable:
        return None  # any worker can load any sample; only what it draws is lost
    raise InvalidArgumentError(
        f"the place in an IterableDataset was saved by {state['count']} workers: resume with "
        f"num_workers={state['count']}, not {workers}"
    )


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


def _generators() -> dict[str, Any]:
    """The process's global generators, as values that can be compared. They are looked at for each
    batch: NumPy's own state takes sixty microseconds, so its words are read where they lie."""
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    found = {"python": random.getstate(), "torch": torch.get_rng_state().numpy().tobytes()}
    if numpy is not None:
        found["numpy"] = _numpy_words(numpy.random)
    return found


def _numpy_words(module: Any) -> Any:
    bits: Any = getattr(module, "get_bit_generator", lambda: None)()  # since NumPy 1.24
    if type(bits) is not module.MT19937:
        return _numpy_state()
    return ctypes.string_at(bits.ctypes.state_address, _NUMPY_STATE_BYTES)


def _numpy_state() -> Any:
    import numpy

    state: Any = numpy.random.get_state()
    name, words, *rest = state
    return name, words.tobytes(), *rest


def _set_generators(states: dict[str, Any]) -> None:
    if "python" in states:
        random.setstate(states["python"])
    if "torch" in states:
        torch = sys.modules["torch"]
        torch.set_rng_state(torch.frombuffer(bytearray(states["torch"]), dtype=torch.uint8))
    if "numpy" in states:
        import numpy

        name, words, *rest = states["numpy"]
        numpy.random.set_state((name, numpy.frombuffer(words, dtype=numpy.uint32), *rest))


def _to_plain(note: _Note | None) -> _Note | None:
    """Generators as text, for JSON."""
    if note is None or "generators" not in note:
        return note
    plain: dict[str, Any] = {}
    for name, state in note["generators"].items():
        if name == "torch":
            plain[name] = _text(state)
        elif name == "numpy":
            plain[name] = [state[0], _text(state[1]), *state[2:]]
        else:
            plain[name] = [state[0], _text(_MERSENNE.pack(*state[1])), state[2]]
    return {**note, "generators": plain}


def _from_plain(note: _Note | None) -> _Note | None:
    if note is None or "generators" not in note:
        return note
    states: dict[str, Any] = {}
    for name, plain in note["generators"].items():
        if name == "torch":
            states[name] = _bytes(plain)
        elif name == "numpy":
            states[name] = (plain[0], _bytes(plain[1]), *plain[2:])
        else:
            states[name] = (plain[0], _MERSENNE.unpack(_bytes(plain[1])), plain[2])
    return {**note, "generators": states}


def _text(raw: bytes) -> str:
    return base64.b85encode(zlib.compress(raw, 6)).decode()


def _bytes(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


__all__ = ["Carried", "CarryingIterator", "Keeper", "Places", "checked"]
