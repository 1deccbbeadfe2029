"""What batches reach the user as: tensors or arrays on the memory that they were decoded into."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any, Literal

from unstarve.device.pinning import can_pin, pin

Output = Literal["auto", "torch", "numpy"]


def converter(output: Output, *, goes_on: bool = False) -> Any:
    """How arrays of the compiled half become what the user wants. No pixels are copied; labels are,
    unless the batch `goes_on` to a device: who keeps all labels must not keep all images."""
    if output == "auto":
        output = "torch" if importlib.util.find_spec("torch") is not None else "numpy"
    if output == "torch":
        import torch

        def to_torch(images: Any, labels: Any) -> tuple[Any, Any]:
            own = torch.from_dlpack(labels) if goes_on else torch.from_dlpack(labels).clone()
            return torch.from_dlpack(images).permute(0, 3, 1, 2), own

        return to_torch
    if output == "numpy":
        import numpy

        def to_numpy(images: Any, labels: Any) -> tuple[Any, Any]:
            own = numpy.from_dlpack(labels) if goes_on else numpy.from_dlpack(labels).copy()
            return numpy.from_dlpack(images).transpose(0, 3, 1, 2), own

        return to_numpy
    raise ValueError(f"output is {output!r}, must be 'auto', 'torch' or 'numpy'")


def pinning(convert: Any) -> Any:
    """`convert`, and a copy into page-locked memory where there is a device to copy to."""

    def to_pinned(images: Any, labels: Any) -> Any:
        return pin(convert(images, labels))

    if importlib.util.find_spec("torch") is None:
        raise ValueError("pin_memory needs torch")
    if not can_pin():
        warnings.warn(
            "pin_memory is set, but there is no GPU: batches lie in ordinary memory", stacklevel=3
        )
        return convert
    return to_pinned
