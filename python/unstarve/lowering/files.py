"""Looks at how a data set reads its files, and at the list of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from unstarve.lowering.originals import is_own
from unstarve.lowering.work import Work

#: File names that the engine reads; the bytes decide in the end.
_JPEG_ENDINGS = (".jpg", ".jpeg")
#: Of so many other files, Python loads each alone while the engine does the rest.
_OTHERS_RATIO_MAX = 0.05


@dataclass(frozen=True)
class Files:
    samples: list[tuple[str, int]]
    others: frozenset[int] = frozenset()  # those that are no JPEGs
    obstacle: str | None = None
    other_label: Any = None  # one that is not an int


def _as_pairs(samples: Any) -> list[tuple[Any, Any]]:
    """A copy; `samples` is a list of tuples, or a NumPy array of two columns."""
    return list(samples) if type(samples) is list else [(path, label) for path, label in samples]


def look_at_files(dataset: Any, last: Work | None, whole: Collection[type]) -> Files:
    obstacle = obstacle_to_reading(dataset)
    if obstacle is not None:
        return Files([], obstacle=obstacle)
    if len(dataset.samples) == 0:
        return Files([], obstacle="there are none")
    # Of arrays `==` is no answer.
    if last is not None and type(dataset.samples) is list and last.samples == dataset.samples:
        samples, others, other_label = last.samples, last.others, last.other_label
    else:
        try:
            samples = _as_pairs(dataset.samples)
            others = frozenset(i for i, (path, _) in enumerate(samples) if not is_jpeg(path))
        except (TypeError, ValueError):
            return Files([], obstacle="not a list of (path, label)")
        other_label = next((label for _, label in samples if type(label) not in whole), None)
    if len(others) > _OTHERS_RATIO_MAX * len(samples):
        more = "" if len(others) == 1 else f", and {len(others) - 1} more"
        obstacle = f"{samples[min(others)][0]} is not a JPEG{more}"
    return Files(samples, others, obstacle, other_label)


def obstacle_to_reading(dataset: Any) -> str | None:
    folder = sys.modules["torchvision.datasets.folder"]
    if not is_own(dataset.loader, folder, "default_loader", "pil_loader"):
        return "a loader of your own"
    if not is_own(folder.pil_loader, folder, "pil_loader"):
        return "torchvision's pil_loader has been exchanged"
    if not is_own(folder.Image.open, folder.Image, "open"):
        return "PIL's Image.open has been exchanged"
    if sys.modules["torchvision"].get_image_backend() != "PIL":
        return "torchvision's image backend is not PIL"
    return None


def is_jpeg(path: Any) -> bool:
    """By its name, which may be anything that open() takes."""
    name: str = path if isinstance(path, str) else os.fsdecode(path)
    return name.lower().endswith(_JPEG_ENDINGS)
