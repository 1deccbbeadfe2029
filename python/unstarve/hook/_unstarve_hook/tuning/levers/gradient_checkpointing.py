"""Activations are computed again in the backward pass instead of being kept, where the model can
do that by itself: it saves memory and costs time."""

from __future__ import annotations

import inspect
from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = True
# transformers from 5 on, transformers before, timm.
_SWITCHES = (
    "activation_checkpointing_enable",
    "gradient_checkpointing_enable",
    "set_grad_checkpointing",
)
_FLAGS = ("gradient_checkpointing", "grad_checkpointing")


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.infers:
        raise LeverRefusedError("the job does not train")
    model, switch = _find(job.root)
    modules = list(model.modules())
    if any(getattr(module, flag, None) is True for module in modules for flag in _FLAGS):
        raise LeverRefusedError("the script checkpoints already")
    if switch != _SWITCHES[2]:
        if not getattr(model, "supports_gradient_checkpointing", True):
            raise LeverRefusedError(f"transformers has none for a {type(model).__name__}")
        if not model.training:
            raise LeverRefusedError("the model is in evaluation mode, in which it does not")
    # Some of timm's assert that it stays off.
    elif not _can_be_on(model):
        raise LeverRefusedError(f"timm has none for a {type(model).__name__}")
    batch_norm = job.torch.nn.modules.batchnorm._BatchNorm
    if any(isinstance(one, batch_norm) and one.training for one in modules):
        raise LeverRefusedError(
            "the running averages of its batch normalizations would count each batch twice"
        )


def apply(job: Any, settings: dict[str, Any]) -> None:
    model, switch = _find(job.root)
    turn_on = getattr(model, switch)
    if "gradient_checkpointing_kwargs" in inspect.signature(turn_on).parameters:
        turn_on(gradient_checkpointing_kwargs={"use_reentrant": False})
    else:
        turn_on()


def _find(root: Any) -> tuple[Any, str]:
    """The outermost module that offers it and owns most of the model, and how it is turned on."""
    size = _size(root)
    for module in root.modules():
        for switch in _SWITCHES:
            if callable(getattr(module, switch, None)) and 2 * _size(module) > size:
                return module, switch
    raise LeverRefusedError("the model offers none, as those of transformers and timm do")


def _size(module: Any) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _can_be_on(model: Any) -> bool:
    try:
        model.set_grad_checkpointing(True)
    except (AssertionError, NotImplementedError):
        return False
    finally:
        model.set_grad_checkpointing(False)
    return True
