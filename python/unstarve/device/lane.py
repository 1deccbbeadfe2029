"""What a way to a device is: lanes start copies of batches, and a copy says when it is over."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Protocol

#: Mean and standard deviation of the three channels, in 0..1.
Normalize = tuple[tuple[float, float, float], tuple[float, float, float]]


class Copy(Protocol):
    """One batch on its way to the device."""

    def is_over(self) -> bool:
        """Whether nothing reads the host's memory any more."""

    def wait(self) -> None:
        """Until that is so."""

    def hand_over(self) -> Any:
        """The batch on the device; what the consumer launches from now on waits for it there."""


class Lane(Protocol):
    """Copies to one device, on a stream of their own."""

    def start(self, batch: Any) -> Copy:
        """Starts to copy; `batch` must stay as it is until the copy is over."""

    def pinned_memory(self) -> Any:
        """A `_native.HostMemory` for batches that this lane will copy, or None (with a warning)."""


def _as_it_is(batch: Any) -> Any:
    return batch


def map_tensors(
    batch: Any, change: Callable[[Any], Any], whole: Callable[[Any], Any] = _as_it_is
) -> Any:
    """`batch` with every tensor and every array of numbers in it changed.

    Containers stay of their class: mappings, sequences, named tuples, data classes, and objects
    that torch pins by their `pin_memory()` or that have a `to()`. What has `to()` and
    `record_stream()`, such as a batch of graphs, is changed by `whole`. Texts, and what else is
    none of these, stay as they are.
    """

    def changed(part: Any) -> Any:
        return map_tensors(part, change, whole)

    if hasattr(batch, "dtype") and hasattr(batch, "nbytes"):
        return batch if getattr(batch.dtype, "kind", "f") in _NO_NUMBERS else change(batch)
    if isinstance(batch, (str, bytes, bytearray, memoryview)) or batch is None:
        return batch
    if callable(getattr(batch, "to", None)) and callable(getattr(batch, "record_stream", None)):
        return whole(batch)
    if isinstance(batch, Mapping):
        return _like(batch, {key: changed(value) for key, value in batch.items()})
    if isinstance(batch, tuple) and hasattr(batch, "batch_sizes"):
        # torch's PackedSequence: its sizes are for the host.
        return _like(batch, [changed(batch[0]), batch[1], *map(changed, batch[2:])])
    if isinstance(batch, Sequence):
        return _like(batch, [changed(value) for value in batch])
    if any(hasattr(batch, name) for name in ("pin_memory", "to", "__dataclass_fields__")):
        return _with_attributes(batch, changed)
    return batch


# Of NumPy: objects, bytes, texts, dates, records.
_NO_NUMBERS = "OSUMmV"


def _like(batch: Any, parts: Any) -> Any:
    """A container of the class of `batch` with these parts; a plain one where that cannot be."""
    items = parts.items() if isinstance(parts, dict) else list(enumerate(parts))
    if all(value is batch[key] for key, value in items):
        return batch
    if type(batch) in (dict, list, tuple):
        return type(batch)(parts)
    try:
        if isinstance(batch, tuple):  # named or not, whatever its own arguments are
            made: Any = tuple.__new__(type(batch), parts)
            getattr(made, "__dict__", {}).update(getattr(batch, "__dict__", {}))
            return made
        if isinstance(batch, (MutableMapping, MutableSequence)):
            made = copy.copy(batch)
            for key, value in items:
                made[key] = value
            return made
        return type(batch)(parts)
    except Exception:
        return parts


def _with_attributes(batch: Any, changed: Callable[[Any], Any]) -> Any:
    made = copy.copy(batch)
    values = dict(getattr(batch, "__dict__", {}))
    if dataclasses.is_dataclass(batch):  # with slots its fields lie elsewhere
        names = [each.name for each in dataclasses.fields(batch) if hasattr(batch, each.name)]
        values = {**{name: getattr(batch, name) for name in names}, **values}
    for name, value in values.items():
        object.__setattr__(made, name, changed(value))
    return made
