"""What a way to a device is: lanes start copies of batches, and a copy says when it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def map_tensors(batch: Any, change: Callable[[Any], Any]) -> Any:
    """`batch` with every tensor or array in its tuples, lists and dicts changed."""
    if hasattr(batch, "dtype") and hasattr(batch, "nbytes"):
        return change(batch)
    if isinstance(batch, Mapping):
        return {key: map_tensors(value, change) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(map_tensors(value, change) for value in batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)([map_tensors(value, change) for value in batch])
    return batch
