"""Compares what two loaders gave."""

from __future__ import annotations

from typing import Any

import torch


def apart(a: Any, b: Any) -> float:
    """The largest difference between two tensors of one shape."""
    return float((a.double() - b.double()).abs().max())


def same(ours: Any, theirs: Any) -> bool:
    """Whether two passes have the same batches of images and labels."""
    pairs = list(zip(ours, theirs, strict=True))
    return all(torch.equal(a, b) and torch.equal(c, d) for (a, c), (b, d) in pairs)
