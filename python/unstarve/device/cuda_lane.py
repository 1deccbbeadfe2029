"""Copies to a CUDA device on a side stream of PyTorch's, and what bytes become as floats there."""

from __future__ import annotations

from typing import Any

from unstarve.device.lane import Normalize, map_tensors
from unstarve.device.pinning import warn_pageable
from unstarve.errors import UnstarveError


class _CudaCopy:
    def __init__(self, data: Any, copied: Any, ready: Any, lane: CudaLane) -> None:
        self._data = data
        self._copied = copied
        self._ready = ready
        self._lane = lane

    def is_over(self) -> bool:
        return bool(self._copied.query())

    def wait(self) -> None:
        self._copied.synchronize()

    def hand_over(self) -> Any:
        stream = self._lane.cuda.current_stream(self._lane.device)
        stream.wait_event(self._ready)

        def used(part: Any) -> Any:
            return _used_by(part, stream)

        map_tensors(self._data, used, used)
        return self._data


def _used_by(tensor: Any, stream: Any) -> Any:
    """Tells PyTorch's allocator, which knows only the stream that the tensor was made on."""
    tensor.record_stream(stream)
    return tensor


class CudaLane:
    """`cuda` is torch.cuda, or what stands for it in a test."""

    def __init__(self, device: Any, normalize: Normalize | None, dtype: Any, cuda: Any) -> None:
        self.device = device
        self.cuda = cuda
        self._stream = cuda.Stream(device)
        self._normalize = normalize
        self._dtype = dtype
        self._constants: tuple[Any, Any] | None = None

    def start(self, batch: Any) -> _CudaCopy:
        with self.cuda.stream(self._stream):
            data = map_tensors(batch, self._to_device, self._whole_to_device)
            copied = self.cuda.Event(blocking=True)
            copied.record(self._stream)
            data = map_tensors(data, self._to_floats)
            ready = self.cuda.Event()
            ready.record(self._stream)
        return _CudaCopy(data, copied, ready, self)

    def pinned_memory(self) -> Any:
        from unstarve import _native

        try:
            return _native.pinned_by_cuda(self.device.index)
        except UnstarveError as error:
            warn_pageable(str(error))
            return None

    def _to_device(self, tensor: Any) -> Any:
        import torch

        return torch.as_tensor(tensor).to(self.device, non_blocking=True)

    def _whole_to_device(self, batch: Any) -> Any:
        return batch.to(self.device, non_blocking=True)

    def _to_floats(self, tensor: Any) -> Any:
        import torch

        if self._normalize is None or tensor.dtype != torch.uint8 or tensor.dim() != 4:
            return tensor
        if self._constants is None:
            mean, std = (
                255 * torch.tensor(values, device=self.device).view(3, 1, 1)
                for values in self._normalize
            )
            self._constants = mean, std
        return normalise(tensor, *self._constants, dtype=self._dtype)


def normalise(images: Any, mean: Any, std: Any, dtype: Any = None) -> Any:
    """uint8 images N x 3 x H x W as floats, (x - mean) / std in float32, the memory's order kept.

    `mean` and `std` are tensors 3 x 1 x 1 in units of a byte.
    """
    floats = (images - mean).div_(std)
    return floats if dtype is None else floats.to(dtype)
