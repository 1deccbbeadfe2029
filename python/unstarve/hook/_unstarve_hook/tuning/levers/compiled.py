"""torch.compile of the root model, in torch's modes, or of each of its repeated blocks."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Any

from ...timeline import version_of
from ..forward import Forward, function_of
from ..refusal import LeverRefusedError


class Mode:
    """Of torch.compile; by its name, or torch's own default."""

    NEEDS_ROOT = True

    def __init__(self, mode: str | None = None) -> None:
        self._mode = mode

    def check(self, job: Any, settings: dict[str, Any]) -> None:
        if self._mode is not None and job.device != "cuda":
            raise LeverRefusedError("what the mode does more is for a CUDA device")
        _check(job)

    def apply(self, job: Any, settings: dict[str, Any]) -> None:
        _prepare(job)
        mode = {"mode": self._mode} if self._mode is not None else {}
        job.root.forward = Forward(job.root, job.torch.compile(function_of(job.root), **mode))


class Regions:
    """Blocks of one class are compiled once, in the place of the whole model: that starts sooner,
    and leaves a loop over many of them as it is."""

    NEEDS_ROOT = True

    def check(self, job: Any, settings: dict[str, Any]) -> None:
        if version_of(job.torch) < (2, 5):
            raise LeverRefusedError("this torch compiles each block anew")
        _check(job)
        if not _blocks(job.torch, job.root):
            raise LeverRefusedError("no repeated blocks hold most of the model")

    def apply(self, job: Any, settings: dict[str, Any]) -> None:
        _prepare(job)
        for block in _blocks(job.torch, job.root):
            block.forward = Forward(block, job.torch.compile(function_of(block)))


def _check(job: Any) -> None:
    torch, root = job.torch, job.root
    if not hasattr(torch, "compile"):
        raise LeverRefusedError("this torch has no torch.compile")
    if any(_is_compiled(module) for module in root.modules()):
        raise LeverRefusedError("the script compiles the model already")
    if isinstance(root, torch.jit.ScriptModule):
        raise LeverRefusedError("the model is a TorchScript module")
    if sys.version_info >= (3, 12) and version_of(torch) < (2, 4):
        raise LeverRefusedError("this torch does not compile for this Python")
    check_compiler(job.device)


def _is_compiled(module: Any) -> bool:
    if getattr(module, "_compiled_call_impl", None) is not None:
        return True
    return type(module).__name__ == "OptimizedModule"


def check_compiler(device: str) -> None:
    from importlib.util import find_spec

    if device == "cuda":
        if find_spec("triton") is None:
            raise LeverRefusedError("no compiler: Triton is not installed")
        return
    if not any(shutil.which(name) for name in (os.environ.get("CXX") or "g++", "clang++")):
        raise LeverRefusedError("no compiler: neither g++ nor clang++ is there")
    header = os.path.join(sysconfig.get_path("include") or "", "Python.h")
    if not os.path.exists(header):
        raise LeverRefusedError("no compiler for it: Python's headers are not installed")


def _prepare(job: Any) -> None:
    """Compiled dropout draws other numbers. Where results are compared it draws those of eager
    mode."""
    if job.compares_results:
        import torch._inductor.config as config

        config.fallback_random = True


def _blocks(torch: Any, root: Any) -> list[Any]:
    """The modules of one class, in lists or sequences, that hold most of the model together."""
    by_class: dict[type, list[Any]] = {}
    for holder in root.modules():
        if isinstance(holder, (torch.nn.ModuleList, torch.nn.Sequential)):
            for block in holder.children():
                if any(True for _ in block.children()):  # more than a layer
                    by_class.setdefault(type(block), []).append(block)
    largest = max(by_class.values(), key=_size, default=[])
    if len(largest) < 2 or 2 * _size(largest) < _size([root]):
        return []
    return largest


def _size(modules: list[Any]) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


compile = Mode()
compile_reduce_overhead = Mode("reduce-overhead")
compile_max_autotune = Mode("max-autotune")
compile_regions = Regions()
