"""Images and filters with channels last in memory."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    torch = job.torch
    images = [one for one in job.inputs if one.dim() == 4 and one.is_floating_point()]
    if not images:
        raise LeverRefusedError("no input of the model is a batch of images (4 dimensions)")
    convolutions = [one for one in job.root.modules() if isinstance(one, torch.nn.Conv2d)]
    if not convolutions:
        raise LeverRefusedError("the model has no convolution")
    wide = [one.weight for one in convolutions if min(one.weight.shape[1:]) > 1] or [images[0]]
    if all(one.is_contiguous(memory_format=torch.channels_last) for one in wide):
        raise LeverRefusedError("the model is in this layout already")


def apply(job: Any, settings: dict[str, Any]) -> None:
    last = job.torch.channels_last
    # Not its own to(), which may take devices and types alone (timm's tasks).
    job.torch.nn.Module.to(job.root, memory_format=last)

    def around(call: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return call(
            *(_laid_out(one, last) for one in arguments),
            **{name: _laid_out(one, last) for name, one in named.items()},
        )

    job.around_forward(around)


def _laid_out(thing: Any, last: Any) -> Any:
    if hasattr(thing, "is_floating_point") and thing.dim() == 4 and thing.is_floating_point():
        return thing.contiguous(memory_format=last)
    return thing
