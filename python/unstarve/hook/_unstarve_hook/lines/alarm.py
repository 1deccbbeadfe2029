"""What the thread that looks waits with, and what the main thread says it did when the wait ended.

A look by another thread takes Python's lock, which the running thread gives away in an operation;
of pure Python the look then finds the operation behind it. Our library (src/observe/inside/looks)
waits without the lock. When the wait is over, it has Python ask whoever runs what it does (from
Python 3.12 on), or give the lock away at once (before). Where the library is not, there are no
looks.
"""

from __future__ import annotations

import os
import sys
import threading

from .stacks import Facts

_VARIABLE = "UNSTARVE_LOOKS_LIBRARY"
_HOOK = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_INSTALLED = os.path.join(os.path.dirname(_HOOK), "lib", "libunstarve_looks.so")
#: Of Python's C interface, in the order of `UnstarvePython` (looks.h).
_FUNCTIONS = (
    "Py_AddPendingCall", "_PyEval_AddPendingCall", "_PyEval_SetSwitchInterval",
    "_PyEval_GetSwitchInterval", "PyInterpreterState_Main", "PyEval_GetFrame", "PyObject_GetAttr",
    "PyUnicode_InternFromString", "PyList_New", "PyList_Append", "Py_IncRef", "Py_DecRef",
    "PyErr_Clear", "PyObject_CallObject", "PyObject_GetItem", "PyGC_Disable", "PyGC_Enable",
)  # fmt: skip


def _unfit(version: tuple[int, ...]) -> set[str]:
    """Functions that this Python lacks, or that do something else there: what was pending was told
    the asking thread alone up to 3.12 (SIGNAL_PENDING_CALLS in Python/ceval_gil.c), and from 3.12
    on the interval belongs to an interpreter, which a thread without the lock has none of."""
    private = "_PyEval_AddPendingCall"
    if version < (3, 10):
        return {private, "PyGC_Disable", "PyGC_Enable"}
    interval = {"_PyEval_SetSwitchInterval", "_PyEval_GetSwitchInterval"}
    if version < (3, 12):
        return {private}
    return interval if version < (3, 13) else {private, *interval}


def main_thread() -> int:
    """The thread that Python has do what is pending; in a forked child the one that forked."""
    return threading.main_thread().ident or 0


class Alarm:
    """The library, of one process: a forked child makes another."""

    def __init__(self, path: str) -> None:
        import ctypes

        class Python(ctypes.Structure):
            _fields_ = [(name, ctypes.c_void_p) for name in (*_FUNCTIONS, "none")]

        address, number = ctypes.c_void_p, ctypes.c_int64
        free, locked = ctypes.CDLL(path), ctypes.PyDLL(path)
        locked.unstarve_looks_new.restype = address
        locked.unstarve_looks_take.restype = ctypes.py_object
        free.unstarve_looks_begin.restype = number
        free.unstarve_looks_wait.restype = number
        unfit = _unfit(sys.version_info[:2])
        addresses = [
            None if name in unfit else ctypes.cast(getattr(ctypes.pythonapi, name), address).value
            for name in _FUNCTIONS
        ]
        made = locked.unstarve_looks_new(ctypes.byref(Python(*addresses, id(None))))
        if not made:
            raise MemoryError
        self._handle = address(made)
        self._take = locked.unstarve_looks_take
        locked.unstarve_looks_look_at.restype = ctypes.py_object
        locked.unstarve_looks_look_at.argtypes = (address, ctypes.py_object, ctypes.py_object)
        self._look_at = locked.unstarve_looks_look_at
        self._begin = free.unstarve_looks_begin
        self._stop = free.unstarve_looks_stop
        self._wait = free.unstarve_looks_wait
        self._number = number

    def begin(self) -> int:
        """What `wait` takes."""
        return int(self._begin(self._handle))

    def stop(self) -> None:
        """Whoever waits is woken up."""
        self._stop(self._handle)

    def wait(self, begun: int, delay_ns: int, threads: dict[int, int]) -> int:
        """When the wait ended, or 0 if it was stopped. If the main thread is one of `threads`, it
        is asked then."""
        main = main_thread()
        asked = main if main in threads else 0
        numbers = (self._number(number) for number in (begun, delay_ns, asked))
        return int(self._wait(self._handle, *numbers))

    def answer(self) -> list[Facts]:
        """The main thread's stack as it was when asked; empty where it has not answered: it is in
        an operation that has given the lock away, and can be looked at."""
        facts = iter(self._take(self._handle))
        return list(zip(facts, facts, facts, facts))

    def look_at(self, thread: int) -> list[Facts]:
        """What another thread does now; empty where there is no such thread. The library keeps
        Python's lock from the thread's frame to the outermost. Python code cannot: 3.11 frees
        frames that are still held when their thread goes on in between, and then crashes."""
        facts = iter(self._look_at(self._handle, sys._current_frames, thread) or ())
        return list(zip(facts, facts, facts, facts))


def load_alarm() -> Alarm | None:
    """Nothing where the library is not to be had: nobody is looked at then."""
    path = os.environ.get(_VARIABLE) or _INSTALLED
    if sys.implementation.name != "cpython" or not os.path.exists(path):
        return None
    try:
        return Alarm(path)
    except (AttributeError, ImportError, MemoryError, OSError):
        return None
