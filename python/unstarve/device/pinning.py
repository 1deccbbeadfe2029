"""Page-locked copies of batches, as PyTorch's `pin_memory` makes them."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from unstarve.device.lane import map_tensors


def pin(batch: Any) -> Any:
    """As PyTorch's pin_memory: copies in page-locked memory, which may be let go of at any time.

    Without CUDA they count as page-locked for an emulated GPU, if the process has one; otherwise
    the batch is returned as it is.
    """
    import torch

    if torch.cuda.is_available():
        return map_tensors(batch, lambda tensor: torch.as_tensor(tensor).pin_memory())
    emulated = _emulated_gpu_module()
    if emulated is None:
        return batch
    return map_tensors(
        batch,
        lambda tensor: tensor if emulated.is_pinned(tensor) else emulated.pin_memory(tensor),
    )


def can_pin() -> bool:
    """Whether pin() pins."""
    import torch

    return torch.cuda.is_available() or _emulated_gpu_module() is not None


def _emulated_gpu_module() -> Any:
    """The module of the emulated GPU, if this process has opened one."""
    emulated = sys.modules.get("unstarve.device.emulated_gpu")
    return emulated if emulated is not None and emulated.Gpu._opened > 0 else None


def warn_pageable(reason: str) -> None:
    warnings.warn(
        f"batches lie in pageable memory, copies to the device are slower: {reason}", stacklevel=3
    )
