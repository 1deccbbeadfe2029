"""Worker processes that outlive a pass over the data, as persistent_workers=True has them.

torch's iterator is then one for all passes. What a job could notice of that is undone or ends it:
each pass draws the number that torch draws for a new iterator, so that the order stays; a job that
has changed its data set since, or still holds the iterator of an earlier pass that is not through,
gets new workers.
"""

from __future__ import annotations

import sys
from typing import Any

from .refusal import RefusedError

_STATE = "_unstarve_kept_state"


def check(loader: Any) -> None:
    """Raises RefusedError where workers cannot live on."""
    torch_class = sys.modules["torch.utils.data.dataloader"].DataLoader
    if type(loader) is not torch_class:
        raise RefusedError(f"a {type(loader).__qualname__}, not torch's own DataLoader")


def keep_workers(loader: Any, also_without: bool = False) -> bool:
    """False where there is nothing to keep; `also_without`: workers that it is about to get."""
    if loader.persistent_workers or not (loader.num_workers or also_without):
        return False
    check(loader)
    # An attribute that torch refuses to set once a loader is made.
    loader.__dict__["persistent_workers"] = True
    loader.__dict__[_STATE] = _state_of(loader.dataset)
    return True


def begin_epoch(loader: Any) -> None:
    """Called before each later pass over a loader that was changed."""
    if _STATE not in loader.__dict__:
        return
    iterator = loader.__dict__.get("_iterator")
    if iterator is None:
        return
    # As many references as there are of what a dictionary and a variable of ours hold: how many
    # that makes differs between versions of Python.
    alone = {"_iterator": object()}
    thing = alone["_iterator"]
    held = sys.getrefcount(iterator) > sys.getrefcount(thing)
    state = _state_of(loader.dataset)
    if (held and not _is_through(loader, iterator)) or not _same(state, loader.__dict__[_STATE]):
        loader.__dict__[_STATE] = state
        loader._iterator = None  # the next one draws that number itself
        return
    torch: Any = sys.modules["torch"]
    torch.empty((), dtype=torch.int64).random_(generator=loader.generator)


def _is_through(loader: Any, iterator: Any) -> bool:
    """Whether it has given all batches: who still holds it, as Lightning does, asks it for none."""
    try:
        sized = loader._dataset_kind == 0 and loader.batch_sampler is not None
        return sized and iterator._num_yielded >= len(loader)
    except Exception:  # A data set without a length.
        return False


def _state_of(dataset: object) -> dict[str, tuple[object, object]]:
    """A job that changes its data set between two passes gives an attribute another value, or a
    list another length."""
    state: dict[str, tuple[object, object]] = {}
    for depth in range(4):
        attributes = getattr(dataset, "__dict__", {})
        for name, value in attributes.items():
            length = len(value) if isinstance(value, (list, dict, set)) else None
            state[f"{depth} {name}"] = (value, length)
        dataset = attributes.get("dataset")
    return state


def _same(now: dict[str, tuple[object, object]], then: dict[str, tuple[object, object]]) -> bool:
    if now.keys() != then.keys():
        return False
    return all(now[name][0] is then[name][0] and now[name][1] == then[name][1] for name in now)
