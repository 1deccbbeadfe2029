"""What the making of a sample may read of Python: the data set, all that it refers to, and what
its code finds by the names of its modules.

`Graph.is_unchanged()` takes some microseconds: it compares what each object refers to, and not the
numbers within large arrays.
"""

from __future__ import annotations

import collections
import copy
import datetime
import decimal
import enum
import fractions
import functools
import io
import pathlib
import pickle
import re
import sys
import threading
import types
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from unstarve.sample_cache.code import (
    Reading,
    has_clocks,
    is_not_the_same,
    is_of_python,
    is_users,
    spoken_name,
)
from unstarve.sample_cache.generators import is_generator
from unstarve.sample_cache.libraries import NOTES, is_known_file, is_known_module, top_name

_MOST_OBJECTS = 20_000
#: Of a longer list, so many of its parts are looked at if all of them are of types without parts.
_LONG = 256
#: Of a list with a part for each sample, so many are walked through.
_FEW = 32
_DIGESTED_BYTES = 256 << 20
#: Bytes of an array up to which its numbers are compared each time.
_SMALL_BYTES = 1024

_WITHOUT_PARTS = frozenset(
    [
        *(str, bytes, int, float, complex, bool, type(None), type(...), type(NotImplemented)),
        *(range, slice, datetime.datetime, datetime.date, datetime.timedelta, datetime.time),
        *(
            decimal.Decimal,
            fractions.Fraction,
            re.Pattern,
            types.CodeType,
            types.GetSetDescriptorType,
        ),
        *(types.WrapperDescriptorType, types.MethodDescriptorType, types.MemberDescriptorType),
        *(type(threading.Lock()), type(threading.RLock()), weakref.ref),
    ]
)
_CONTAINERS = (list, dict, set, collections.deque)
#: Compiled types whose objects do not change by being read, by the beginning of their names.
_READ_ONLY = (
    *("torch.", "numpy.", "pyarrow.", "h5py.", "tokenizers.", "re.", "functools."),
    *("pandas.", "scipy.", "PIL.", "cv2.", "_hashlib.", "collections."),
)


class Graph:
    """Of one data set, as it is when this is made."""

    def __init__(self, dataset: Any) -> None:
        self._samples = len(dataset)
        #: Why nobody can say whether it changes; empty where that can be said.
        self.obstacle = ""
        self.generators: list[Any] = []
        #: Of the user's functions that may run.
        self.codes: set[types.CodeType] = set()
        #: Data that they find elsewhere than in the data set: globals, closures, attributes of
        #: classes, default arguments.
        self.values: list[tuple[str, Any]] = []
        self._seen: dict[int, Any] = {}
        # What is looked at, each with what was found: names of objects, parts of containers, ...
        self._dicts: list[tuple[Any, list[Any]]] = []
        self._lists: list[tuple[Any, list[Any]]] = []
        self._lengths: list[tuple[Any, int]] = []
        self._looks: list[tuple[Callable[[], Any], Any]] = []
        self._long_lists: list[tuple[Any, Any]] = []
        self._rows: list[Any] = []  # long lists and arrays: one part is for one sample
        self._spans: list[tuple[int, int]] = []  # memory of arrays that it holds
        self._attributes: set[str] = set()
        self._classes: list[type] = []
        self._waiting: list[tuple[str, Any]] = [("the data set", dataset)]
        self._walk()
        for name in ("__getitem__", "__len__"):
            self._reach(type(dataset), name)
        self._walk()
        self._digest = 0 if self.obstacle else self.digest()

    def is_unchanged(self) -> bool:
        # Equal objects are equal here: identity is asked first, so that nothing large is compared.
        try:
            for names, values in self._dicts:
                if list(names.values()) != values:
                    return False
            for parts, values in self._lists:
                if list(parts) != values:
                    return False
            for parts, length in self._lengths:
                if len(parts) != length:
                    return False
            return all(look() == before for look, before in self._looks)
        except Exception:  # arrays in the place of other arrays cannot be compared
            return False

    def holds(self, start: int, end: int) -> bool:
        """Whether this memory is of an array that the data set holds."""
        return any(first <= start and end <= last for first, last in self._spans if end > start)

    def row(self, index: int) -> Any:
        """What large containers hold for one sample, to be compared with what they hold after it
        was made: `self.features[index] *= 2` leaves no other trace."""
        found = []
        for rows in self._rows:
            if index < len(rows):
                found.append(_row_bytes(rows[index]))
        return found

    def is_unchanged_throughout(self) -> bool:
        """What is too large to be looked at for each sample too. Takes as long as reading it."""
        try:
            if any(parts != before for parts, before in self._long_lists):
                return False
        except Exception:  # as above
            return False
        return self.digest() == self._digest

    def digest(self) -> int:
        """Of what large containers hold; of the largest, parts of it that are evenly spaced."""
        digest = 0
        for rows in self._rows:
            step = max(1, len(rows) * _bytes_of_row(rows) // _DIGESTED_BYTES)
            if step == 1 and hasattr(rows, "flags") and rows.flags.c_contiguous:
                digest = zlib.crc32(memoryview(rows).cast("B"), digest)
                continue
            for index in range(0, len(rows), step):
                digest = zlib.crc32(_row_bytes(rows[index]), digest)
        return digest

    def _refuse(self, why: str) -> None:
        self.obstacle = self.obstacle or why

    def _walk(self) -> None:
        while self._waiting and not self.obstacle:
            name, item = self._waiting.pop()
            kind = type(item)
            if kind in _WITHOUT_PARTS or id(item) in self._seen:
                continue
            self._seen[id(item)] = item
            if len(self._seen) > _MOST_OBJECTS:
                self._refuse(f"{name} is one of more than {_MOST_OBJECTS} objects")
            self._visit(name, item)

    def _visit(self, name: str, item: Any) -> None:
        if is_generator(item):
            self.generators.append(item)
        elif isinstance(item, types.ModuleType):
            if has_clocks(item):
                self._refuse(f"{name} is the module {item.__name__}")
        elif isinstance(item, types.FunctionType):
            self._visit_function(name, item)
        elif isinstance(item, type):
            self._visit_class(item)
        elif isinstance(item, (tuple, frozenset)):
            self._visit_parts(name, item)
        elif isinstance(item, (enum.Enum, pathlib.PurePath)):
            pass
        elif isinstance(item, (types.MethodType, functools.partial, types.BuiltinFunctionType)):
            self._visit_call(name, item)
        elif _array_of(item) is not None:
            self._visit_array(item)
        elif isinstance(item, io.IOBase):
            pass  # its file is looked at, and samples are made in other orders
        else:
            self._visit_object(name, item)

    def _visit_parts(self, name: str, item: Any) -> None:
        parts = list(item)
        if len(parts) > _LONG and set(map(type, parts)) <= _WITHOUT_PARTS:
            return
        # A tuple of leaves is one, as pairs of a path and a label are.
        if len(parts) > _LONG and all(
            type(p) is tuple and set(map(type, p)) <= _WITHOUT_PARTS for p in parts
        ):
            return
        for number, part in enumerate(parts):
            if type(part) not in _WITHOUT_PARTS:
                self._waiting.append((f"{name}[{number}]", part))

    def _visit_object(self, name: str, item: Any) -> None:
        if isinstance(item, _CONTAINERS):
            self._look_at_container(name, item)
        own = getattr(item, "__dict__", None)
        if isinstance(own, dict):
            notes = NOTES.get(top_name(type(item).__module__), frozenset())
            if notes:
                self._looks.append(_look_at(functools.partial(_without, own, notes)))
            else:
                self._dicts.append((own, list(own.values())))
            parts = [(key, value) for key, value in own.items() if key not in notes]
            self._waiting.extend((f"{name}.{key}", value) for key, value in parts)
        for slot in _slots_of(type(item)):
            self._looks.append(_look_at(functools.partial(getattr, item, slot, None)))
            self._waiting.append((f"{name}.{slot}", getattr(item, slot, None)))
        compiled = next((c for c in type(item).__mro__[:-1] if not is_of_python(c)), None)
        if compiled is not None and not isinstance(item, _CONTAINERS):
            self._visit_compiled(name, compiled, item)
        self._waiting.append((type(item).__qualname__, type(item)))

    def _visit_compiled(self, name: str, kind: type, item: Any) -> None:
        full = f"{kind.__module__}.{kind.__qualname__}"
        if full.startswith("tokenizers.") and getattr(
            getattr(item, "model", None), "dropout", None
        ):
            self._refuse(f"{name} leaves out merges at random (dropout)")
        if not full.startswith(_READ_ONLY):
            self._refuse(f"{name} is a {full}, into which nobody can look")

    def _look_at_container(self, name: str, item: Any) -> None:
        values = list(item.values()) if isinstance(item, dict) else list(item)
        if len(item) > _LONG:
            self._lengths.append((item, len(item)))
            self._long_lists.append((item, copy.copy(item)))
        elif isinstance(item, dict):
            self._dicts.append((item, values))
            self._lists.append((item, list(item)))
        else:
            self._lists.append((item, values))
        if self._is_by_sample(item):
            self._rows.append(item)
            values = values[:: max(1, len(values) // _FEW)]
        self._visit_parts(name, values)

    def _is_by_sample(self, item: Any) -> bool:
        """Whether it has a part for each sample, which is looked at with that sample."""
        if not isinstance(item, list) or len(item) != self._samples or len(item) <= _FEW:
            return False
        return not set(map(type, item)) <= _WITHOUT_PARTS

    def _visit_array(self, item: Any) -> None:
        start, nbytes, look = _array_of(item) or (0, 0, None)
        self._spans.append((start, start + nbytes))
        if look is not None:
            self._looks.append(_look_at(look))
        array = _as_numpy(item)
        if array is None:
            return
        if array.dtype.hasobject:
            self._visit_parts("an array", array.ravel().tolist())
        elif array.nbytes > _SMALL_BYTES and array.ndim > 0:
            self._rows.append(array)

    def _visit_call(self, name: str, item: Any) -> None:
        if isinstance(item, functools.partial):
            parts = [item.func, item.args, item.keywords]
        elif isinstance(item, types.MethodType):
            parts = [item.__self__, item.__func__]
        else:
            parts = [] if isinstance(item.__self__, types.ModuleType) else [item.__self__]
            if is_not_the_same(item):
                self._refuse(f"{name} is {spoken_name(item)}")
        self._waiting.extend((name, part) for part in parts)

    def _visit_class(self, kind: type) -> None:
        if not is_of_python(kind) or _is_of_known_library(kind):
            return
        self._classes.append(kind)
        # Attributes that come and go too: `type(self).epoch += 1` makes one in the subclass.
        self._looks.append(_look_at(functools.partial(_attributes_of, kind)))
        for key, value in vars(kind).items():
            is_pythons_own = key.startswith("__") or key == "_abc_impl"
            if not is_pythons_own and not callable(value) and not _is_descriptor(value):
                self._find(f"{kind.__qualname__}.{key}", value)
        self._waiting.extend((base.__qualname__, base) for base in kind.__bases__)
        for name in (
            *self._attributes,
            "__call__",
            "forward",
            "__getitem__",
            "__iter__",
            "__next__",
        ):
            self._reach(kind, name)

    def _visit_function(self, name: str, function: types.FunctionType) -> None:
        cells = function.__closure__ or ()
        held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for part in [*held, *map(_content, cells)]:
            self._find(name, part)
        if function.__kwdefaults__:
            self._waiting.append((name, function.__kwdefaults__))
        if cells:
            self._looks.append(_look_at(lambda: list(map(_content, cells))))
        wrapped = getattr(function, "__wrapped__", None)
        self._waiting.append((name, wrapped))
        if not is_users(function) or function.__code__ in self.codes:
            return
        self.codes.add(function.__code__)
        reading = Reading(function)
        if reading.obstacle:
            self._refuse(reading.obstacle)
        names = function.__globals__
        for key, value in reading.values:
            if key in names:
                self._looks.append(_look_at(functools.partial(names.get, key)))
            self._find(key, value)
        for attribute in reading.attributes - self._attributes:
            self._attributes.add(attribute)
            for kind in self._classes:
                self._reach(kind, attribute)

    def _find(self, name: str, value: Any) -> None:
        """Data that code of the user's may read."""
        self._waiting.append((name, value))
        if not callable(value) and not isinstance(value, types.ModuleType):
            self.values.append((name, value))

    def _reach(self, kind: type, name: str) -> None:
        """A method that may be called."""
        for base in kind.__mro__:
            if name in vars(base):
                value = vars(base)[name]
                for part in _functions_of(value):
                    self._waiting.append((f"{kind.__qualname__}.{name}", part))
                return


def _row_bytes(part: Any) -> bytes:
    return part.tobytes() if hasattr(part, "tobytes") else pickle.dumps(part)


def _bytes_of_row(rows: Any) -> int:
    return max(1, len(_row_bytes(rows[0]))) if len(rows) else 1


def _as_numpy(item: Any) -> Any:
    """An array, or a tensor's memory as one; None where NumPy has no such type."""
    if not hasattr(item, "numpy"):
        return item
    try:
        return item.detach().numpy()
    except (TypeError, RuntimeError):  # bfloat16, another device
        return None


def _look_at(look: Callable[[], Any]) -> tuple[Callable[[], Any], Any]:
    return look, look()


def _without(own: dict[str, Any], notes: frozenset[str]) -> list[Any]:
    return [value for key, value in own.items() if key not in notes]


def _attributes_of(kind: type) -> list[Any]:
    """Without what pickling keeps there."""
    kept_by_python = ("__slotnames__", "_abc_impl")
    return [value for name, value in vars(kind).items() if name not in kept_by_python]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _functions_of(value: Any) -> Iterator[Any]:
    if isinstance(value, property):
        yield from (part for part in (value.fget, value.fset) if part is not None)
    elif isinstance(value, (staticmethod, classmethod)):
        yield value.__func__
    elif callable(value):
        yield value


def _is_descriptor(value: Any) -> bool:
    return hasattr(type(value), "__get__")


def _slots_of(kind: type) -> Iterable[str]:
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__"):
                yield slot


def _is_of_known_library(kind: type) -> bool:
    if not is_known_module(kind.__module__) or top_name(kind.__module__) == "__main__":
        return False
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    return file is None or is_known_file(file)


def _array_of(item: Any) -> tuple[int, int, Callable[[], Any] | None] | None:
    """Where an array lies, its bytes, and what to compare of it."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(item, torch.Tensor):
        if item.device.type != "cpu" or item.layout is not torch.strided:
            return 0, 0, lambda: item._version
        nbytes = item.untyped_storage().nbytes()
        start = item.untyped_storage().data_ptr()
        if 0 < item.numel() * item.element_size() <= _SMALL_BYTES:
            return start, nbytes, lambda: (item._version, item.detach().reshape(-1).tolist())
        return start, nbytes, lambda: (item._version, item.data_ptr())
    if numpy is not None and isinstance(item, numpy.ndarray):
        start = item.__array_interface__["data"][0]
        if item.nbytes <= _SMALL_BYTES and not item.dtype.hasobject:
            return start, item.nbytes, item.tobytes
        return start, item.nbytes, lambda: (item.shape, item.__array_interface__["data"][0])
    return None


__all__ = ["Graph"]
