"""Finds the device that a user names, and opens the way of batches to it."""

from __future__ import annotations

from typing import Any

from unstarve.device.cuda_lane import CudaLane
from unstarve.device.lane import Lane, Normalize


def open_lane(device: Any, normalize: Normalize | None = None, dtype: Any = None) -> Lane:
    """How batches get to `device`.

    Raises:
        ValueError: not a CUDA device.
        RuntimeError: PyTorch sees no CUDA device.
    """
    import torch

    place = torch.device(device)
    if place.type != "cuda":
        raise ValueError(f"device is {device!r}, must be a CUDA device")
    if not torch.cuda.is_available():
        raise RuntimeError(f"device is {device!r}, but PyTorch sees no CUDA device here")
    index = torch.cuda.current_device() if place.index is None else place.index
    return CudaLane(torch.device("cuda", index), normalize, dtype, torch.cuda)
