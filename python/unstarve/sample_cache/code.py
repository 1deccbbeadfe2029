"""Reads the code that makes a sample: what it calls that gives another result each time.

Random numbers are not looked for here: who draws them is noticed while it happens. Clocks, numbers
of processes and the like leave no trace, and code that runs for few samples only may not have run
yet. So all code of the user's that can be reached by name is read.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import functools
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from unstarve.sample_cache.libraries import is_known_file, is_known_module

#: By what a function says of itself: "module.name".
_NOT_THE_SAME = frozenset(
    [
        *(f"time.{n}" for n in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter")),
        *(f"time.{n}" for n in ("perf_counter_ns", "process_time", "localtime", "gmtime")),
        *("time.ctime", "time.strftime", "time.thread_time"),
        *(f"{m}.{n}" for m in ("os", "posix") for n in ("urandom", "getpid", "getppid", "times")),
        *("os.getenv", "os.getloadavg", "posix.getloadavg", "os.environ", "os.environb"),
        *("uuid.uuid1", "uuid.uuid4", "random.SystemRandom", "random.Random"),
        *("numpy.random.default_rng", "numpy.random._generator.default_rng"),
        *("numpy.random.mtrand.RandomState", "numpy.random.RandomState"),
        *(
            "torch.Generator",
            "torch._C.Generator",
            "torch.utils.data._utils.worker.get_worker_info",
        ),
        *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today"),
        *("datetime.datetime.today", "builtins.id", "builtins.hash", "builtins.input"),
        *("_thread.get_ident", "_thread.get_native_id", "threading.current_thread"),
        *("multiprocessing.process.current_process", "torch.random.seed"),
        *("torch.from_file", "torch._VariableFunctionsClass.from_file"),
        *("_random.Random.seed", "torch.random.manual_seed", "torch.random.initial_seed"),
    ]
)
#: Of an object that nobody knows before it runs.
_NAMES_NOT_THE_SAME = frozenset(
    ["get_worker_info", "urandom", "getpid", "uuid4", "uuid1", "utcnow", "time_ns", "perf_counter"]
)
_LOADS_GLOBAL = frozenset(["LOAD_GLOBAL", "LOAD_NAME"])
_LOADS_LOCAL = frozenset(["LOAD_FAST", "LOAD_DEREF", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"])
_LOADS_ATTRIBUTE = frozenset(["LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"])
_STORES = frozenset(["STORE_FAST", "STORE_DEREF", "STORE_NAME"])
_SKIPPED = frozenset(["PUSH_NULL", "CACHE", "EXTENDED_ARG", "RESUME", "COPY_FREE_VARS"])


def is_users(function: types.FunctionType) -> bool:
    return not is_known_file(function.__code__.co_filename)


def spoken_name(value: Any) -> str:
    """ "time.time" for time.time; empty where it has no name."""
    owner = getattr(value, "__self__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):
        return ""
    if isinstance(owner, types.ModuleType):
        return f"{owner.__name__}.{name}"
    if isinstance(owner, type):  # datetime.now says "datetime.now"
        return f"{owner.__module__}.{owner.__qualname__}.{getattr(value, '__name__', name)}"
    return f"{getattr(value, '__module__', None) or ''}.{name}"


def is_not_the_same(value: Any) -> bool:
    """Whether it is known to give another result each time."""
    spoken = spoken_name(value)
    return spoken in _NOT_THE_SAME or spoken.startswith("secrets.")


def has_clocks(module: types.ModuleType) -> bool:
    return module.__name__ in ("time", "os", "random", "secrets", "uuid", "datetime")


class Reading:
    """What one function's code refers to."""

    def __init__(self, function: types.FunctionType) -> None:
        self._function = function
        self.obstacle = ""
        #: Objects that it finds by names of its module: functions, classes, data.
        self.values: list[tuple[str, Any]] = []
        #: Attributes of objects that are known when it runs only.
        self.attributes: set[str] = set()
        for code in _all_code(function.__code__):
            self._read(code)

    def _read(self, code: types.CodeType) -> None:
        local = self._closure()  # variables that are modules, or parts of some
        module: Any = None  # that is being imported
        name, value = "", None  # what was loaded last; no name: nobody knows what
        for step in dis.get_instructions(code):
            if step.opname in _SKIPPED:
                continue
            if step.opname in _LOADS_GLOBAL:
                name, value = self._find(step.argval)
            elif step.opname in _LOADS_LOCAL:
                name, value = (step.argval if step.argval in local else ""), local.get(step.argval)
            elif step.opname == "IMPORT_NAME":
                name, module = step.argval, self._import(step.argval, code)
                value = sys.modules.get(name.partition(".")[0])
            elif step.opname == "IMPORT_FROM":
                name, value = step.argval, getattr(module, step.argval, None)
            elif step.opname in _STORES and name:
                local[step.argval] = value
                continue
            elif step.opname in _LOADS_ATTRIBUTE and name and _is_open(value):
                name, value = f"{name}.{step.argval}", getattr(value, step.argval, None)
            else:
                if step.opname in _LOADS_ATTRIBUTE:
                    self._note_attribute(step.argval, code)
                name, value = "", None
            if name and value is not None:
                self._take(name, value, code)

    def _closure(self) -> dict[str, Any]:
        """What it has of the functions around it, as far as that is a module or compiled."""
        found = {}
        cells = self._function.__closure__ or ()
        for name, cell in zip(self._function.__code__.co_freevars, cells, strict=True):
            with contextlib.suppress(ValueError):  # nothing yet
                if isinstance(cell.cell_contents, (types.ModuleType, types.BuiltinFunctionType)):
                    found[name] = cell.cell_contents
        return found

    def _note_attribute(self, name: str, code: types.CodeType) -> None:
        self.attributes.add(name)
        if name in _NAMES_NOT_THE_SAME:
            self._refuse(name, code)

    def _import(self, name: str, code: types.CodeType) -> Any:
        if name not in sys.modules and is_known_module(name):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        if name not in sys.modules:
            self._refuse(f"{name}, which it imports", code)
        return sys.modules.get(name)

    def _find(self, name: str) -> tuple[str, Any]:
        names = self._function.__globals__
        value = names[name] if name in names else getattr(builtins, name, None)
        return name, value

    def _take(self, name: str, value: Any, code: types.CodeType) -> None:
        if name in _NOT_THE_SAME or is_not_the_same(value):
            self._refuse(name, code)
        elif _is_unknown(value):
            self._refuse(f"{name}, compiled code of which nothing is known,", code)
        elif not isinstance(value, types.ModuleType):
            self.values.append((name, value))

    def _refuse(self, name: str, code: types.CodeType) -> None:
        file = code.co_filename.rpartition("/")[2]
        self.obstacle = (
            self.obstacle or f"{code.co_name} ({file}:{code.co_firstlineno}) uses {name}"
        )


def _is_unknown(value: Any) -> bool:
    """Whether it is a compiled function or class of a package that is not known."""
    if not isinstance(value, (type, types.BuiltinFunctionType)):
        return False
    if isinstance(value, type) and is_of_python(value):
        return False
    module = value.__module__
    return module is not None and not is_known_module(module)


def _is_function(value: Any) -> bool:
    return isinstance(getattr(value, "__func__", value), types.FunctionType)


@functools.cache
def is_of_python(kind: type) -> bool:
    """Whether a class statement made it, so that its objects have nothing but attributes."""
    if kind is object:
        return True
    own = vars(kind)
    if "__dict__" in own or "__slots__" in own or any(map(_is_function, own.values())):
        return True
    bases = [base for base in kind.__bases__ if base is not object]
    return bool(bases) and all(map(is_of_python, bases))


def _is_open(value: Any) -> bool:
    """Whether an attribute of it is what it says: a module's or a class's."""
    return isinstance(value, (types.ModuleType, type)) or spoken_name(value) == "os.environ"


def _all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all_code(constant)


__all__ = [
    "Reading",
    "has_clocks",
    "is_not_the_same",
    "is_of_python",
    "is_users",
    "spoken_name",
]
