"""The compiled module, or a word on what to do where it is missing."""

from __future__ import annotations

try:
    from unstarve import _native
except ImportError as missing:
    raise ImportError(
        "unstarve's loader needs the compiled module unstarve._native, which this installation "
        "does not have for this Python: build it with `make build`, or point PYTHONPATH at the "
        "build's python folder"
    ) from missing

__all__ = ["_native"]
