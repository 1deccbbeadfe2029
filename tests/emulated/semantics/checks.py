"""What the scripts of this folder share: each prints a line for each promise of CUDA's that it
tried, `ok NAME` or `BAD NAME: what was seen`.

The machine may be busy with other things, which makes any step of the host take longer, so that
what has to be short or to overlap is tried several times.
"""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 8


def check(name: str, holds: bool, seen: object = "") -> None:
    print(f"ok {name}" if holds else f"BAD {name}: {seen}", flush=True)


def milliseconds(*acts: Callable[[], object]) -> float:
    """That the calls take, one after the other."""
    start = time.perf_counter()
    for act in acts:
        act()
    return 1e3 * (time.perf_counter() - start)


def least(measure: Callable[[], float], enough: float) -> float:
    """The smallest of several measurements; the first that is below `enough` will do."""
    smallest = float("inf")
    for _ in range(TRIES):
        smallest = min(smallest, measure())
        if smallest < enough:
            break
    return smallest


def sometimes(act: Callable[[], bool]) -> bool:
    return any(act() for _ in range(TRIES))


def raises(error: type[BaseException], act: Callable[[], object]) -> bool:
    try:
        act()
    except error:
        return True
    return False
