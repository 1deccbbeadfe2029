"""Lets torch's default collate function write straight into shared slots, in a worker."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from typing import Any

from unstarve.workers.packing import BatchMemory

# A collate function that keeps its results keeps their slots, of which a worker has 4096.
_SLOTS_MAX = 1024


class SlotCollation:
    """While the worker's loop collates a batch, what `default_collate` stacks lies in its slots.

    A data set, its threads and its processes may call that function as well, for what is no part of
    the batch or is kept: they get ordinary memory, as ever. A collate function of the job's own may
    stack more than it returns: it has as many bytes of slots as the batch before took to send.
    """

    def __init__(self, memory: BatchMemory) -> None:
        self._memory = memory
        self._loop: tuple[int, int] | None = None  # process and thread, while it collates
        self._bytes_left = 0.0

    def begin(self) -> None:
        """From now on in this process."""
        import torch
        from torch.utils.data._utils import collate

        table = collate.default_collate_fn_map
        original = table[torch.Tensor]

        def stack(batch: Any, *, collate_fn_map: Any = None) -> Any:
            target = self._target(batch)
            if target is None:
                return original(batch, collate_fn_map=collate_fn_map)
            return torch.stack(batch, 0, out=target)

        table[torch.Tensor] = stack

    def within(self, collate_fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """`collate_fn`, for the worker's loop."""
        from torch.utils.data import default_collate

        is_default = collate_fn is default_collate

        def collate(samples: Any) -> Any:
            self._bytes_left = math.inf if is_default else self._spare_bytes()
            self._loop = _caller()
            try:
                return collate_fn(samples)
            finally:
                self._loop = None

        return collate

    def _spare_bytes(self) -> int:
        memory = self._memory
        return memory.sent_bytes if memory.allocations < _SLOTS_MAX else 0

    def _target(self, batch: Any) -> Any:
        """Where a batch of tensors is to be stacked; None where torch is to decide."""
        import torch

        if self._loop is None or self._loop != _caller():
            return None
        elem = batch[0]
        plain = type(elem) is torch.Tensor and elem.device.type == "cpu"
        if not plain or elem.is_nested or elem.layout is not torch.strided or elem.is_quantized:
            return None
        each = elem.numel() * elem.element_size()
        if each == 0 or any(getattr(other, "shape", None) != elem.shape for other in batch):
            return None  # torch raises where the shapes differ
        if each * len(batch) > self._bytes_left:
            return None
        self._bytes_left -= each * len(batch)
        return slot_tensor(self._memory, (len(batch), *elem.shape), elem.dtype)


def _caller() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


def slot_tensor(memory: BatchMemory, shape: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialised tensor in the batch's slot; not of zero size."""
    import torch

    count = dtype.itemsize
    for size in shape:
        count *= size
    view = memory.view(memory.allocate(count))
    return torch.frombuffer(view, dtype=torch.uint8).view(dtype).view(shape)
