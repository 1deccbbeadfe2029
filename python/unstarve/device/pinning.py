"""Page-locked copies of batches, as PyTorch's `pin_memory` makes them."""

from __future__ import annotations

import warnings
from typing import Any

from unstarve.device.lane import map_tensors


def pin(batch: Any) -> Any:
    """As PyTorch's pin_memory: copies in page-locked memory, which may be let go of at any time.

    Without CUDA the batch is returned as it is.
    """
    import torch

    if not can_pin():
        return batch
    return map_tensors(batch, lambda tensor: torch.as_tensor(tensor).pin_memory())


def can_pin() -> bool:
    """Whether pin() pins."""
    import torch

    return bool(torch.cuda.is_available())


def warn_pageable(reason: str) -> None:
    warnings.warn(
        f"batches lie in pageable memory, copies to the device are slower: {reason}", stacklevel=3
    )
