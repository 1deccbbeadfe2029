"""How a function of ours stands in the place of somebody else's, and how it goes again."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import CodeType
from typing import Any, Callable

_ABSENT = object()
_undo: list[Callable[[], None]] = []


def in_the_place_of(original: Any, ours: Any) -> Any:
    """Gives `ours` the original's name, for messages and profilers."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        try:
            setattr(ours, name, getattr(original, name))
        except (AttributeError, TypeError):
            pass
    return ours


def put(holder: Any, name: str, ours: Any) -> None:
    """Sets an attribute of a class or a module until take_back(). What somebody else puts over it
    meanwhile stays, and calls ours, which records nothing any more."""
    before = vars(holder).get(name, _ABSENT)
    setattr(holder, name, ours)

    def undo() -> None:
        if vars(holder).get(name) is not ours:
            return
        if before is _ABSENT:
            delattr(holder, name)
        else:
            setattr(holder, name, before)

    _undo.append(undo)


def when_taken_back(undo: Callable[[], None]) -> None:
    _undo.append(undo)


def take_back() -> None:
    """Everything as it was, the last first. Raises the first error, after the rest was done."""
    first: Exception | None = None
    while _undo:
        try:
            _undo.pop()()
        except Exception as error:
            first = first or error
    if first is not None:
        raise first


def compiling_of(torch: Any) -> Callable[[], bool]:
    """Torch's function that says whether it traces what calls it; before 2.3 there is none."""
    compiler = getattr(torch, "compiler", None)
    check: Callable[[], bool] = getattr(compiler, "is_compiling", lambda: False)
    return check


def keep_out_of_graphs(torch: Any) -> None:
    """Where the job compiles what calls us, Dynamo would compile our functions too: torch has a
    mark for code that it leaves alone, from 2.1 on."""
    frames: Any = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    skip = getattr(frames, "skip_code", None)
    set_strategy = getattr(frames, "set_code_exec_strategy", None)
    if skip is None and set_strategy is not None:  # from 2.7 on
        action = frames._FrameAction
        alone = frames._FrameExecStrategy(action.SKIP, action.DEFAULT)

        def skip(code: CodeType) -> None:
            set_strategy(code, alone)

    if skip is None:
        return
    package = __name__.rpartition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.startswith(package):
            for code in _codes_of(vars(module).values(), module.__name__):
                skip(code)


def _codes_of(things: Any, module: str) -> Iterable[CodeType]:
    """Of functions, of the methods of classes, and of what is defined inside them."""
    for thing in list(things):
        if isinstance(thing, type) and thing.__module__ == module:
            yield from _codes_of(vars(thing).values(), module)
        code = thing if isinstance(thing, CodeType) else getattr(thing, "__code__", None)
        if isinstance(code, CodeType):
            yield code
            yield from _codes_of(code.co_consts, module)


def hide_our_frame(error: BaseException) -> None:
    """Called in an `except` block of a wrapper, before a bare `raise`: from Python 3.11 on the
    job's traceback then reads as if the wrapper were not there."""
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next
