"""How a function of ours stands in the place of somebody else's, and how it goes again."""

from __future__ import annotations

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


def hide_our_frame(error: BaseException) -> None:
    """Called in an `except` block of a wrapper, before a bare `raise`: from Python 3.11 on the
    job's traceback then reads as if the wrapper were not there."""
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next
