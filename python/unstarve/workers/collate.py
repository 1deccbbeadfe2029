"""Lets torch's default collate function write straight into shared slots, in a worker."""

from __future__ import annotations

from typing import Any

from unstarve.workers.packing import BatchMemory


def make_batches_in(memory: BatchMemory) -> None:
    """From now on in this process. Custom collate functions that call torch's profit as well."""
    import torch
    from torch.utils.data._utils import collate

    table = collate.default_collate_fn_map
    original = table[torch.Tensor]

    def stack(batch: Any, *, collate_fn_map: Any = None) -> Any:
        elem = batch[0]
        plain = type(elem) is torch.Tensor and elem.device.type == "cpu"
        if not plain or elem.is_nested or elem.layout is not torch.strided or elem.is_quantized:
            return original(batch, collate_fn_map=collate_fn_map)
        count = sum(each.numel() for each in batch) * elem.element_size()
        if count == 0 or elem.numel() * elem.element_size() * len(batch) != count:
            return torch.stack(batch, 0)  # which raises where the shapes differ
        return torch.stack(batch, 0, out=slot_tensor(memory, (len(batch), *elem.shape), elem.dtype))

    table[torch.Tensor] = stack


def slot_tensor(memory: BatchMemory, shape: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialised tensor in the batch's slot; not of zero size."""
    import torch

    count = dtype.itemsize
    for size in shape:
        count *= size
    view = memory.view(memory.allocate(count))
    return torch.frombuffer(view, dtype=torch.uint8).view(dtype).view(shape)
