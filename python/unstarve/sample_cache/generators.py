"""States of random generators: the process's own, and those that a data set has."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from unstarve.workers.generators import generators, numpy_state, set_generators


def is_generator(item: Any) -> bool:
    if isinstance(item, random.Random):
        return True
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(item, torch.Generator):
        return True
    if numpy is None:
        return False
    kinds = (numpy.random.Generator, numpy.random.RandomState, numpy.random.BitGenerator)
    return isinstance(item, kinds)


def state_of(item: Any) -> Any:
    """A value that is another one once somebody has drawn."""
    if isinstance(item, random.Random):
        return item.getstate()
    if hasattr(item, "get_state"):  # NumPy's older kind, or torch's
        state = item.get_state()
        return state.numpy().tobytes() if hasattr(state, "numpy") else repr(state)
    return repr(getattr(item, "bit_generator", item).state)


class Watch:
    """Says whether anybody has drawn: from the process's generators, or from those of `own`."""

    def __init__(self, own: list[Any]) -> None:
        self._own = own
        self._numpy_words: Any = None
        self._has_gauss = False

    def look(self) -> Any:
        """Equal to an earlier look if nobody has drawn since. The look before a sample is to be
        taken by `look_anew()`."""
        gauss = numpy_state()[3:] if self._has_gauss else None
        return generators(), [state_of(item) for item in self._own], gauss

    def look_anew(self) -> Any:
        # NumPy keeps every second normal number for the next call, which draws nothing then. It
        # has one to give only if somebody drew since the last look.
        look = self.look()
        words = look[0].get("numpy")
        if words is None or words == self._numpy_words:
            return look
        self._numpy_words = words
        self._has_gauss = bool(numpy_state()[3])
        return self.look()


def _restore(item: Any, state: Any) -> None:
    if isinstance(item, random.Random):
        item.setstate(state)
    elif hasattr(item, "set_state"):
        item.set_state(state)
    else:
        getattr(item, "bit_generator", item).state = state


def _whole_state(item: Any) -> Any:
    if isinstance(item, random.Random):
        return item.getstate()
    if hasattr(item, "get_state"):
        return item.get_state()
    return getattr(item, "bit_generator", item).state


@contextmanager
def others(own: Sequence[Any] = ()) -> Iterator[None]:
    """The process's generators are in other states within, and as before behind it; those of `own`
    are as before behind it."""
    kept = [(item, _whole_state(item)) for item in own]
    numpy, torch = sys.modules.get("numpy"), sys.modules["torch"]
    states = generators()
    if numpy is not None:
        states["numpy"] = numpy_state()
    draw = random.SystemRandom().getrandbits(31)
    try:
        random.seed(draw)
        torch.default_generator.manual_seed(draw)
        if numpy is not None:
            numpy.random.seed(draw)
        yield
    finally:
        set_generators(states)
        for item, state in kept:
            _restore(item, state)


__all__ = ["Watch", "is_generator", "others", "state_of"]
