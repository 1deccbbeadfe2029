"""Batches to the device ahead of the training step.

While one batch is computed, the next is copied on a stream of its own, from page-locked memory; the
consumer's stream waits for an event, the training thread does not. Pixels cross the bus as bytes
and become normalised floats on the device.

    device_batches = unstarve.to_device(loader, "cuda", normalize=(MEAN, STD))
    for images, labels in device_batches:      # float32 on the device, channels last in memory
        ...

`ImageLoader(..., device="cuda")` does the same with its own batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unstarve.device.ahead import DeviceIterator, Noted, Progress, taking
from unstarve.device.lane import Lane, Normalize
from unstarve.device.open_lane import open_lane
from unstarve.device.slot_memory import lend_memory, takes_memory


class DeviceLoader:
    """A loader whose batches are on the device; see `to_device`. Everything else that is asked of
    it, it asks of the loader."""

    def __init__(self, loader: Any, lane: Lane) -> None:
        self._loader = loader
        self._lane = lane
        self._memory: Any = None
        self._progress: Progress | None = None

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> DeviceIterator:
        loader = self._loader
        if takes_memory(loader):
            if self._memory is None:
                self._memory = self._lane.pinned_memory()
            with lend_memory(loader, self._memory):
                host = iter(loader)
        else:
            host = iter(loader)
        iterator = DeviceIterator(
            host,
            self._lane,
            memory=self._memory,
            note_state=_how_to_note(loader),
        )
        self._progress = iterator.progress
        return iterator

    def state_dict(self) -> dict[str, Any]:
        """The loader's, where the consumer of the device's batches is."""
        progress = self._progress
        if progress is not None and progress.noted is not None:
            return progress.noted()
        state: dict[str, Any] = self._loader.state_dict()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._progress = None
        self._loader.load_state_dict(state_dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)


def _how_to_note(loader: Any) -> Callable[[], Noted] | None:
    """Of loaders that can only say their state, it is taken with each batch."""
    own: Callable[[], Noted] | None = getattr(loader, "_unstarve_noted_state", None)
    if own is not None or not hasattr(loader, "state_dict"):
        return own
    return taking(loader.state_dict)


def to_device(
    loader: Any, device: Any, *, normalize: Normalize | None = None, dtype: Any = None
) -> DeviceLoader:
    """`loader` with its batches on `device`, copied one batch ahead on a stream of their own.

    Args:
        loader: gives batches of tensors or arrays, in tuples, lists or dicts. The native engine of
            an `unstarve.DataLoader` writes into page-locked memory then; other loaders need
            `pin_memory=True` of their own for copies that overlap.
        device: a CUDA device as PyTorch names it.
        normalize: (mean, std), three numbers each in 0..1 as for torchvision's Normalize: uint8
            batches N x 3 x H x W become (x / 255 - mean) / std on the device.
        dtype: the floats' type, float32 by default.

    Raises:
        ValueError, RuntimeError: no such device.
    """
    return DeviceLoader(loader, open_lane(device, normalize, dtype))
