"""Kernels of others in the place of layers of transformers' models: Liger's, and those that
Hugging Face's `kernels` gets from its hub."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..refusal import LeverRefusedError


class Liger:
    NEEDS_ROOT = True

    def check(self, job: Any, settings: dict[str, Any]) -> None:
        if job.device != "cuda":
            raise LeverRefusedError("its kernels are for a CUDA device")
        if find_spec("liger_kernel") is None:
            raise LeverRefusedError("liger_kernel is not installed")
        model = pretrained(job.root)
        kind = getattr(model.config, "model_type", "")
        if kind not in _liger().MODEL_TYPE_TO_APPLY_LIGER_FN:
            raise LeverRefusedError(f"it has none for a {type(model).__name__}")

    def apply(self, job: Any, settings: dict[str, Any]) -> None:
        _liger()._apply_liger_kernel_to_instance(model=pretrained(job.root))


class OfTheHub:
    NEEDS_ROOT = True

    def check(self, job: Any, settings: dict[str, Any]) -> None:
        if job.device != "cuda":
            raise LeverRefusedError("its kernels are for a CUDA device")
        if find_spec("kernels") is None:
            raise LeverRefusedError("kernels (of Hugging Face) is not installed")
        if not any(hasattr(type(one), "kernel_layer_name") for one in job.root.modules()):
            raise LeverRefusedError("no layer of the model says that a kernel may replace it")

    def apply(self, job: Any, settings: dict[str, Any]) -> None:
        kernels: Any = import_module("kernels")
        mode = kernels.Mode.INFERENCE if job.infers else kernels.Mode.TRAINING
        kernels.kernelize(job.root, mode=mode, device=job.device)


def pretrained(root: Any) -> Any:
    """The model of transformers within the root."""
    for module in root.modules():
        is_theirs = any(base.__name__ == "PreTrainedModel" for base in type(module).__mro__)
        if is_theirs and hasattr(module, "config"):
            return module
    raise LeverRefusedError("the model is none of transformers")


def _liger() -> Any:
    return import_module("liger_kernel.transformers.monkey_patch")


liger = Liger()
hub_kernels = OfTheHub()
