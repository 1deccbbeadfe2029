"""Steps of optimizers that are given a closure: the model is called, and gradients are computed,
within the step (Lightning's loop, L-BFGS)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..recorder import RECORDER
from ..wrap import hide_our_frame


def once_gradients_are_there(
    arguments: tuple[Any, ...], named: dict[str, Any], then: Callable[[], None]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Calls `then`: at once, or behind the first call of the closure that the step is given. For a
    hook before an optimizer's step, with what that was called with; what such a hook returns."""
    closure = named.get("closure", arguments[1] if len(arguments) > 1 else None)
    if not callable(closure):
        _call(then)
        return None
    is_first = True

    @functools.wraps(closure)
    def ours(*given: Any, **by_name: Any) -> Any:
        nonlocal is_first
        try:
            result = closure(*given, **by_name)
        except BaseException as error:
            hide_our_frame(error)
            raise
        if is_first:
            is_first = False
            _call(then)
        return result

    if "closure" in named:
        return arguments, {**named, "closure": ours}
    return (arguments[0], ours, *arguments[2:]), named


def _call(then: Callable[[], None]) -> None:
    try:
        then()
    except Exception as error:
        RECORDER.note_error(error)
