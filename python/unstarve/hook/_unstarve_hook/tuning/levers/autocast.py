"""What the autocasting levers share: the model's forward in fewer bits, its results in float32, so
that the script computes its loss as before."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..refusal import LeverRefusedError


def in_use(torch: Any, device: str, root: Any) -> bool:
    """Whether the script autocasts here, or accelerate does in the model's forward."""
    if root is not None and any("_original_forward" in vars(one) for one in root.modules()):
        return True
    if device == "cuda":
        return bool(torch.is_autocast_enabled())
    try:
        return bool(torch.is_autocast_enabled("cpu"))
    except TypeError:  # before torch 2.4
        return bool(torch.is_autocast_cpu_enabled())


def check(job: Any) -> None:
    torch = job.torch
    if job.device not in ("cpu", "cuda"):
        raise LeverRefusedError(f"the job trains on {job.device}")
    if in_use(torch, job.device, job.root):
        raise LeverRefusedError("the script autocasts already")
    if not any(parameter.dtype is torch.float32 for parameter in job.root.parameters()):
        raise LeverRefusedError("nothing in the model is float32")


def wrap(job: Any, dtype: Any) -> None:
    torch, device = job.torch, job.device

    def around(call: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        with torch.autocast(device, dtype=dtype):
            result = call(*arguments, **named)
        return in_float32(result, dtype)

    job.around_forward(around)


def in_float32(result: Any, dtype: Any, depth: int = 0) -> Any:
    if getattr(result, "dtype", None) is dtype and hasattr(result, "float"):
        return result.float()
    if depth > 3:
        return result
    if isinstance(result, dict):  # also the outputs of transformers' models
        for key in list(result):
            result[key] = in_float32(result[key], dtype, depth + 1)
    elif isinstance(result, tuple):
        parts = [in_float32(one, dtype, depth + 1) for one in result]
        return like_tuple(result, parts)
    elif isinstance(result, list):
        return [in_float32(one, dtype, depth + 1) for one in result]
    elif dataclasses.is_dataclass(result) and not isinstance(result, type):
        for field in dataclasses.fields(result):
            part = getattr(result, field.name, None)
            object.__setattr__(result, field.name, in_float32(part, dtype, depth + 1))
    return result


def like_tuple(given: tuple[Any, ...], parts: list[Any]) -> Any:
    """A tuple of these, of the kind that was given: of names, or one of torch.return_types."""
    if hasattr(given, "_fields"):
        return type(given)(*parts)
    return type(given)(parts) if hasattr(given, "n_sequence_fields") else tuple(parts)
