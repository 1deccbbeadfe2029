"""The levers that the hook can apply in a job; one small file each.

Each has NEEDS_ROOT, `check(job, settings)`, which raises LeverRefusedError where it does not apply,
and `apply(job, settings)`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: In the order in which they are applied: what wraps the model's forward last is outermost.
_FILES = {
    "threads": "threads",
    "kept_memory": "kept_memory",
    "expandable_segments": "expandable_segments",
    "cudnn_benchmark": "cudnn_benchmark",
    "matmul_precision": "matmul_precision",
    "fused_optimizer": "fused_optimizer",
    "compile": "compiled",
    "compile_reduce_overhead": "compiled_reduce_overhead",
    "bf16_autocast": "bf16_autocast",
    "fp16_autocast": "fp16_autocast",
    "channels_last": "channels_last",
}
NAMES = tuple(_FILES)


def get(name: str) -> Any:
    return import_module("." + _FILES[name], __name__)
