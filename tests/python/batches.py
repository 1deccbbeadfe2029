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


def raised_by_torch(loader: Any) -> tuple[type[BaseException], str]:
    """What a pass of torch's loader raises: its kind and its text.

    torch leaves the exception in a cycle with its iterator, whose workers run on until Python
    collects it, and some seconds longer: so it is shut down here.
    """
    batches = iter(loader)
    try:
        for _ in batches:
            pass
    except Exception as error:
        return type(error), str(error)
    finally:
        if loader.num_workers:
            batches._shutdown_workers()
    raise AssertionError("torch raises nothing")
