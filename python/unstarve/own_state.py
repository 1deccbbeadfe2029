"""What an object of the job says of where it is: its `state_dict()`, which torch's loader never
calls. Jobs have such methods for other ends too: with arguments, raising, as large as their data.
"""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

_PACKAGE = "unstarve."

# Of the time since the first question, beyond what all may take.
_SHARE = 0.02
_CREDIT_S = 0.05


def can_say(item: Any) -> bool:
    """Whether it answers without arguments and takes its answer back. A module's answer is its
    parameters, which are no place."""
    ask = getattr(item, "state_dict", None)
    if not callable(ask) or not callable(getattr(item, "load_state_dict", None)):
        return False
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(item, torch.nn.Module):
        return False
    try:
        inspect.signature(ask).bind()
    except TypeError:
        return False
    except ValueError:
        return True  # it does not tell its arguments
    return True


class Questions:
    """Asks for a state again and again, so that it takes little of the job's time, unless `always`
    each answer is wanted. After one that cannot be had it asks no more: `why_not` says why.
    """

    def __init__(self, *, always: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        self._always = always
        self._now = now
        self._begun: float | None = None
        self._spent_s = 0.0
        self.why_not = ""

    def ask(self, say: Callable[[], Any], *, at_any_cost: bool = False) -> Any:
        """The answer; None where there is none, or none for now."""
        begun = self._now()
        if self._begun is None:
            self._begun = begun
        affordable = self._spent_s <= _CREDIT_S + _SHARE * (begun - self._begun)
        if self.why_not or not (self._always or at_any_cost or affordable):
            return None
        try:
            return say()
        except Exception as error:
            self.why_not = f"its state_dict() raised {type(error).__name__}: {error}"
            return None
        finally:
            self._spent_s += self._now() - begun


def warn_without(whose: str, why: str) -> None:
    """Says where the script asked for it that a loader's state is without somebody's own."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"the state is without that of {whose}: {why}", stacklevel=level)


__all__ = ["Questions", "can_say", "warn_without"]
