"""How a function of ours stands in the place of somebody else's."""

from __future__ import annotations

from typing import Any


def in_the_place_of(original: Any, ours: Any) -> Any:
    """Gives `ours` the original's name, for messages and profilers."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        try:
            setattr(ours, name, getattr(original, name))
        except (AttributeError, TypeError):
            pass
    return ours


def hide_our_frame(error: BaseException) -> None:
    """Called in an `except` block of a wrapper, before a bare `raise`: from Python 3.11 on the
    job's traceback then reads as if the wrapper were not there."""
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next
