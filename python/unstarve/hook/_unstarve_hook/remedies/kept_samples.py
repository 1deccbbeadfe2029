"""Samples that are kept in the first pass over the data, as `unstarve.cached()` keeps them.

Nothing is recorded until the next pass begins: it shows what the job gains from then on. A script
that calls `unstarve.cached()` itself is recorded from its second pass on as well.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from ..recorder import RECORDER
from .refusal import RefusedError

_MAP_STYLE = 0
#: Data sets, of which a job may make loaders anew in each pass, and what keeps their samples.
_kept: list[tuple[Any, Any]] = []
_MOST_KEPT = 8


def keep_samples(loader: Any) -> bool:
    """Called before a pass. Says whether the loader was changed.
    Raises RefusedError where samples cannot be kept."""
    dataset = loader.dataset
    found = next((keeper for known, keeper in _kept if dataset is known or dataset is keeper), None)
    if found is not None:
        changed = dataset is not found
        loader.__dict__["dataset"] = found  # an attribute that torch refuses to set
        _begin_next_pass(found)
        return changed
    if len(_kept) == _MOST_KEPT:
        raise RefusedError(f"the job has more than {_MOST_KEPT} data sets")
    keeper = _keeper_of(loader)
    if not _kept:
        RECORDER.paused = True
        RECORDER.before_end.append(_say_that_none_followed)
    _kept.append((dataset, keeper))
    loader.__dict__["dataset"] = keeper
    return dataset is not keeper


def _keeper_of(loader: Any) -> Any:
    try:
        from unstarve.sample_cache.dataset import CachedDataset, cached
    except ImportError as missing:
        raise RefusedError(f"unstarve cannot be imported in the job's Python: {missing}") from None
    if isinstance(loader.dataset, CachedDataset):
        return loader.dataset
    if loader._dataset_kind != _MAP_STYLE:
        raise RefusedError("an iterable data set, which has no samples by number")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        keeper = cached(loader.dataset)
    _check(keeper)
    return keeper


def _check(keeper: Any) -> None:
    explanation = keeper.explain()
    if explanation.startswith("nothing is kept"):
        raise RefusedError(f"unstarve.cached: {explanation}")


def _begin_next_pass(keeper: Any) -> None:
    """An evaluation's data may be passed over again while those of the training are not through:
    they are fewer."""
    if not RECORDER.paused or any(len(other) > len(keeper) for _, other in _kept):
        return
    RECORDER.paused = False
    _check(keeper)


def _say_that_none_followed() -> None:
    if RECORDER.paused:
        RECORDER.paused = False
        reason = "the job ended before its second pass over the data"
        RECORDER.describe(fix_refused=[{"reason": reason}])
        if "torch" in sys.modules:
            RECORDER.announce()
