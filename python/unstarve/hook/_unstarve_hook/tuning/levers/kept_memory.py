"""Variables of glibc by which it keeps freed memory, instead of giving it back and faulting it in
again each step. They are in the environment already when the job starts."""

from __future__ import annotations

import os
from typing import Any

from ..refusal import LeverRefusedError
from .preloaded import loaded

NEEDS_ROOT = False


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.device != "cpu":
        raise LeverRefusedError("the job trains on a GPU")
    if not hasattr(os, "confstr") or "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        raise LeverRefusedError("the C library is not glibc")
    other = loaded()
    if other:
        raise LeverRefusedError(f"the job allocates by {other}")
    if not settings and "MALLOC_TRIM_THRESHOLD_" in os.environ:
        raise LeverRefusedError("MALLOC_TRIM_THRESHOLD_ is set already")


def apply(job: Any, settings: dict[str, Any]) -> None:
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        raise LeverRefusedError("the job's environment was changed before Python started")
