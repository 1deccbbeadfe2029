"""torch.compile of the root model's forward."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = True


def check(job: Any, settings: dict[str, Any]) -> None:
    torch, root = job.torch, job.root
    if not hasattr(torch, "compile"):
        raise LeverRefusedError("this torch has no torch.compile")
    if type(root).__name__ == "OptimizedModule" or getattr(root, "_compiled_call_impl", None):
        raise LeverRefusedError("the script compiles the model already")
    if isinstance(root, torch.jit.ScriptModule):
        raise LeverRefusedError("the model is a TorchScript module")
    if sys.version_info >= (3, 12) and _version(torch) < (2, 4):
        raise LeverRefusedError("this torch does not compile for this Python")
    check_compiler(job.device)


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


def _version(torch: Any) -> tuple[int, ...]:
    words = str(torch.__version__).split("+")[0].split(".")[:2]
    return tuple(int(word) for word in words if word.isdigit())


def apply(job: Any, settings: dict[str, Any]) -> None:
    job.compile_forward()
