"""What is found out about a loader's data set after its first words were said."""

from __future__ import annotations

from typing import Any

from .recorder import RECORDER


def add(loader_id: int, **found: Any) -> None:
    """To the words of that loader in the ring's text; nothing where it has none there."""
    loaders = RECORDER.facts("loaders") or {}
    words = loaders.get(str(loader_id))
    if words is None:
        return
    words["dataset"].update(found)
    is_first = next(iter(loaders)) == str(loader_id)
    RECORDER.describe(loaders=loaders, **({"dataset": words["dataset"]} if is_first else {}))
