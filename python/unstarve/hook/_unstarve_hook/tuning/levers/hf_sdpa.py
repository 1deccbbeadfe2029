"""Torch's fused attention in a model of transformers whose configuration says "eager"."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError
from .others_kernels import pretrained

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    model = pretrained(job.root)
    used = getattr(model.config, "_attn_implementation", None)
    if used != "eager":
        raise LeverRefusedError(f"its attention is {used!r} and not 'eager'")
    if not hasattr(model, "set_attn_implementation"):
        raise LeverRefusedError("this transformers cannot change it once the model is there")
    if getattr(model.config, "output_attentions", False):
        raise LeverRefusedError("the script asks for the attention's weights, which it has none of")
    can_change = getattr(model, "_can_set_attn_implementation", lambda: True)
    if not can_change() or not getattr(model, "_supports_sdpa", False):
        raise LeverRefusedError(f"transformers has none for a {type(model).__name__}")


def apply(job: Any, settings: dict[str, Any]) -> None:
    model = pretrained(job.root)
    model.set_attn_implementation("sdpa")
    if model.config._attn_implementation != "sdpa":
        raise LeverRefusedError("transformers left it as it was")
