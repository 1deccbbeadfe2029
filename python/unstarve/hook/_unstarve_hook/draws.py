"""Whether making a batch draws from the generators that a process shares. Samples that draw nothing
may be the same in each epoch, and worth keeping; `unstarve.cached` proves it, this only looks."""

from __future__ import annotations

import random
import sys
from typing import Any

from .recorder import RECORDER

#: Of each loader in each process. The first fetch is none of them: it may set things up.
_LOOKS = 3
#: A job may make one for each episode.
_MOST_LOADERS = 16

State = tuple[Any, ...]

#: Fetches of each loader that began in this process, as long as they are counted.
_begun: dict[int, int] = {}
RECORDER.after_fork.append(_begun.clear)


def state_before(loader_id: int) -> State | None:
    """None where nobody looks: nearly always."""
    begun = _begun.get(loader_id, 0)
    if begun > _LOOKS or (begun == 0 and len(_begun) == _MOST_LOADERS):
        return None
    _begun[loader_id] = begun + 1
    return _state() if begun else None


def compare(loader_id: int, before: State) -> None:
    """Says what is known after this fetch, in the ring's text."""
    state = _state()
    if state is None:
        return
    drew = state != before
    if drew or _begun[loader_id] > _LOOKS:
        _begun[loader_id] = _LOOKS + 1
        told = RECORDER.facts("fetches_draw") or {}
        RECORDER.describe(fetches_draw={**told, str(loader_id): drew})


def _state() -> State | None:
    try:
        torch: Any = sys.modules["torch"]
        numpy: Any = sys.modules.get("numpy.random")
        state: list[Any] = [random.getstate(), torch.get_rng_state().numpy().tobytes()]
        if numpy is not None:
            name, keys, *rest = numpy.get_state()
            state += [name, keys.tobytes(), *rest]
        return tuple(state)
    except Exception as error:
        RECORDER.note_error(error)
        return None
