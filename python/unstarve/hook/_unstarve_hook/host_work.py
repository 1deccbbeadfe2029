"""Records what holds a training process up and is known by name: garbage collection, torch.save."""

from __future__ import annotations

import gc
import sys
from typing import Any

from .recorder import HOST_WORK, RECORDER, now_ns
from .wrap import hide_our_frame, in_the_place_of, put, when_taken_back

COLLECTION, SAVE = 0, 1
#: Shorter work is left out: it holds nobody up, and a young collection comes thousands of times.
_SHORTEST_NS = 1_000_000


def watch_torch(module: Any) -> None:
    """torch.serialization, which every job that imports torch does."""
    original = module.save
    ours = _timed(original)
    put(module, "save", ours)
    torch: Any = sys.modules.get("torch")
    if vars(torch).get("save") is original:  # imported before we came
        put(torch, "save", ours)
    collections = _Collections()
    gc.callbacks.append(collections)
    when_taken_back(lambda: gc.callbacks.remove(collections))


class _Collections:
    """One of `gc.callbacks`; a collection holds the lock of the interpreter, so they never nest."""

    def __init__(self) -> None:
        self._start = 0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if info["generation"] == 0:
            return
        if phase == "start":
            self._start = now_ns()
        elif self._start:
            _note(COLLECTION, self._start)
            self._start = 0


def _note(kind: int, start: int) -> None:
    end = now_ns()
    if end - start >= _SHORTEST_NS:
        RECORDER.record_beside(HOST_WORK, start, end, kind)


def _timed(original: Any) -> Any:
    def save(*arguments: Any, **named: Any) -> Any:
        start = now_ns()
        try:
            return original(*arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        finally:
            _note(SAVE, start)

    ours = in_the_place_of(original, save)
    ours.__wrapped__ = original
    return ours
