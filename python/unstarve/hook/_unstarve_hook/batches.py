"""How many samples a loader's batch has."""

from __future__ import annotations

from typing import Any

from .ring import ABSENT

# A batch has fewer parts; a longer list is one of samples.
_MOST_PARTS = 8


def samples_in(data: Any, batch_size: int) -> int:
    """The first dimension of the first tensor in the batch, or how many samples a list has, as far
    as it can be told."""
    try:
        found = _counts_in(data)
    except Exception:
        return batch_size
    if batch_size == ABSENT:
        return found[0]
    if batch_size in found:
        return batch_size
    # The last batch of an epoch may be shorter.
    return max((count for count in found if count <= batch_size), default=batch_size)


def _is_by_name(data: Any) -> bool:
    """Of a table `values` is a property, which copies: the class is asked."""
    kind = type(data)
    return hasattr(kind, "keys") and callable(getattr(kind, "values", None))


def _counts_in(data: Any) -> list[int]:
    """How many samples there may be, the likeliest first."""
    if _is_by_name(data):
        return _counts_in(next(iter(data.values())))
    if not isinstance(data, (list, tuple)):
        return [int(data.shape[0])]
    if getattr(data[0], "shape", None):
        return [len(data)] if len(data) > _MOST_PARTS else [int(data[0].shape[0])]
    if isinstance(data[0], dict):
        return [len(data), *_counts_in(data[0])]
    if isinstance(data[0], (list, tuple)):  # samples, or the parts of all of them
        return [len(data), len(data[0])]
    return [len(data)]  # numbers, texts


def samples_of_item(data: Any) -> int:
    """Of what a data set gives a loader that collates nothing (`batch_size=None`): a batch that it
    made itself, where two tensors or more have the same first dimension, else one sample."""
    try:
        parts = list(data.values()) if _is_by_name(data) else data
        if not isinstance(parts, (list, tuple)):
            return 1
        sizes = [part.shape[0] for part in parts if getattr(part, "shape", None)]
        return int(sizes[0]) if len(sizes) > 1 and len(set(sizes)) == 1 else 1
    except Exception:
        return 1
