"""Another allocator of the host's memory, loaded before the C library; a variable of the
environment."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

_OTHERS = ("jemalloc", "tcmalloc", "mimalloc")


class Allocator:
    NEEDS_ROOT = False

    def __init__(self, name: str) -> None:
        self._name = name

    def check(self, job: Any, settings: dict[str, Any]) -> None:
        if job.device != "cpu":
            raise LeverRefusedError("the job trains on a GPU")
        other = loaded()
        if not settings and other:
            raise LeverRefusedError(f"the job allocates by {other}")

    def apply(self, job: Any, settings: dict[str, Any]) -> None:
        if loaded() != self._name:
            raise LeverRefusedError("the library was not loaded")


def loaded() -> str:
    """The allocator that is mapped into this process in the C library's place; empty: none."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        text = maps.read()
    return next((name for name in _OTHERS if f"lib{name}" in text), "")


tcmalloc = Allocator("tcmalloc")
jemalloc = Allocator("jemalloc")
