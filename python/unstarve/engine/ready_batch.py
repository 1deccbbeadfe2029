"""Runs a `collate_fn` on a batch that is there already.

The function asks torch's `default_collate` once for its samples, and nothing else of them
(`lowering/batches`). It gets a list whose only sample stands for the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.data._utils import collate


class _Ready:
    """Of a list of one: what `default_collate` gives of the list."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch


def _batch_of(samples: list[_Ready], *, collate_fn_map: Any = None) -> Any:
    return samples[0].batch


def collate_ready(collate_fn: Callable[[list[Any]], Any], batch: Any) -> Any:
    """What the function makes of samples of which `default_collate` would give `batch`, or its
    exception."""
    collate.default_collate_fn_map[_Ready] = _batch_of
    return collate_fn([_Ready(batch)])


__all__ = ["collate_ready"]
