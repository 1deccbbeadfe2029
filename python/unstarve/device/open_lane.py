"""Which way leads to a device: CUDA's streams, or the emulated GPU's model of them."""

from __future__ import annotations

from typing import Any

from unstarve.device.cuda_lane import CudaLane
from unstarve.device.emulated_lane import EmulatedLane
from unstarve.device.lane import Lane, Normalize


def open_lane(device: Any, normalize: Normalize | None = None, dtype: Any = None) -> Lane:
    """How batches get to `device`.

    Raises:
        ValueError: not a CUDA device and not an emulated GPU.
        RuntimeError: PyTorch sees no CUDA device.
    """
    if getattr(device, "emulated", False):
        return EmulatedLane(device)
    import torch

    place = torch.device(device)
    if place.type != "cuda":
        raise ValueError(f"device is {device!r}, must be a CUDA device or an unstarve.emulated.Gpu")
    if not torch.cuda.is_available():
        raise RuntimeError(f"device is {device!r}, but PyTorch sees no CUDA device here")
    index = torch.cuda.current_device() if place.index is None else place.index
    return CudaLane(torch.device("cuda", index), normalize, dtype, torch.cuda)
