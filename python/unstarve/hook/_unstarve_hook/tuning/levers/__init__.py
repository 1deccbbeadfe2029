"""The levers that the hook can apply in a job; one small file each.

Each has NEEDS_ROOT, `check(job, settings)`, which raises LeverRefusedError where it does not apply,
and `apply(job, settings)`. One with NEEDS_HABITS is asked in a survey when `job.habits` has seen
the script's first steps; in a trial there are none. One with `begin(torch, settings)` is called
right after torch was imported, too. A file of several has an object for each, by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: In the order in which they are applied: what wraps the model's forward last is outermost.
_FILES = {
    "float64": "float64",
    "threads": "threads",
    "kept_memory": "kept_memory",
    "tcmalloc": "preloaded",
    "jemalloc": "preloaded",
    "expandable_segments": "expandable_segments",
    "pinned_copies": "pinned_copies",
    "cudnn_benchmark": "cudnn_benchmark",
    "matmul_precision": "matmul_precision",
    "interop_threads": "interop_threads",
    "set_to_none": "set_to_none",
    "fused_optimizer": "fused_optimizer",
    "gradient_checkpointing": "gradient_checkpointing",
    "hf_sdpa": "hf_sdpa",
    "liger": "others_kernels",
    "hub_kernels": "others_kernels",
    "sdpa_flash": "sdpa",
    "sdpa_efficient": "sdpa",
    "sdpa_math": "sdpa",
    "sdpa_cudnn": "sdpa",
    "compile_regions": "compiled",
    "compile": "compiled",
    "compile_reduce_overhead": "compiled",
    "compile_max_autotune": "compiled",
    "bf16_autocast": "bf16_autocast",
    "fp16_autocast": "fp16_autocast",
    "channels_last": "channels_last",
}
NAMES = tuple(_FILES)


def get(name: str) -> Any:
    module = import_module("." + _FILES[name], __name__)
    return getattr(module, name, module)
