"""Data pipelines of public training scripts, rebuilt from their documentation.

Each is a function of the folder (made_data.py) and of the loader's class: what somebody exchanges
by one import. The files' docstrings and `source` name where it is from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Make = Callable[[Path, Any], Any]


class Pipeline(NamedTuple):
    name: str
    kind: str  # the first word of the table
    source: str
    make: Make
    #: Whether two passes give the same pixels.
    is_random: bool


PIPELINES: dict[str, Pipeline] = {}


def pipeline(kind: str, source: str, *, is_random: bool = True) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        name = make.__name__
        PIPELINES[name] = Pipeline(name, kind, source, make, is_random)
        return make

    return register


def options(**more: Any) -> dict[str, Any]:
    """What all of them give their loader."""
    return {"batch_size": 32, "num_workers": 2, **more}


def load_all() -> dict[str, Pipeline]:
    from pipelines import (  # noqa: F401 (each registers its own)
        classification,
        detection,
        hugging_face,
        segmentation,
        self_supervised,
        with_timm,
    )

    return PIPELINES
