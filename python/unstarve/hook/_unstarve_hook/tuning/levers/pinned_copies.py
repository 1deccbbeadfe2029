"""Batches come in pinned memory, and copies of them to the GPU do not wait for their end."""

from __future__ import annotations

from typing import Any

from ...wrap import in_the_place_of, put
from ..refusal import LeverRefusedError

NEEDS_ROOT = False
NEEDS_HABITS = True
_MARK = "_unstarve_pinned_copies"


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.device != "cuda":
        raise LeverRefusedError("the job does not train on a CUDA device")
    if job.habits is None:  # a trial: the survey has seen the loaders
        return
    if not job.habits.pinning:
        raise LeverRefusedError("no DataLoader of torch gave a batch in the first steps")
    if False not in job.habits.pinning:
        raise LeverRefusedError("the script's loaders pin their batches already")


def begin(torch: Any, settings: dict[str, Any]) -> None:
    """Before the first loader is iterated, which is before the model's first call."""
    import torch.utils.data.dataloader as module

    loader: Any = module.DataLoader
    put(loader, "__iter__", _pinning(loader.__iter__))
    put(torch.Tensor, "to", _not_waiting(torch, torch.Tensor.to, _is_cuda))
    put(torch.Tensor, "cuda", _not_waiting(torch, torch.Tensor.cuda, _any_device))


def apply(job: Any, settings: dict[str, Any]) -> None:
    if not hasattr(job.torch.Tensor.to, _MARK):
        raise LeverRefusedError("the script has replaced Tensor.to")


def _pinning(original: Any) -> Any:
    def __iter__(self: Any) -> Any:
        self.pin_memory = True
        return original(self)

    return in_the_place_of(original, __iter__)


def _not_waiting(torch: Any, original: Any, is_to_gpu: Any) -> Any:
    """torch gives pinned memory that was copied from back only when the copy has ended."""

    def copied(self: Any, *arguments: Any, **named: Any) -> Any:
        says = "non_blocking" in named or any(isinstance(one, bool) for one in arguments)
        to_gpu = self.device.type == "cpu" and is_to_gpu(torch, arguments, named)
        if to_gpu and not says and self.is_pinned():
            named["non_blocking"] = True
        return original(self, *arguments, **named)

    ours = in_the_place_of(original, copied)
    setattr(ours, _MARK, True)
    return ours


def _is_cuda(torch: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    target = named.get("device", arguments[0] if arguments else None)
    if isinstance(target, torch.Tensor):
        target = target.device
    if isinstance(target, str):
        return target.startswith("cuda")
    if isinstance(target, torch.device):
        return bool(target.type == "cuda")
    return isinstance(target, int)  # the number of a GPU


def _any_device(torch: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    return True
