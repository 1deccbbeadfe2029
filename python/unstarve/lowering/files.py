"""Looks at how a data set reads its files, and at the list of them."""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from unstarve.lowering.originals import is_own
from unstarve.lowering.work import Samples

#: Of so many other files, Python loads each alone while the engine does the rest.
_OTHERS_RATIO_MAX = 0.05


@dataclass(frozen=True)
class Files:
    samples: Samples
    others: frozenset[int] = frozenset()  # those that the engine does not decode
    obstacle: str | None = None
    other_label: Any = None  # one that is not an int


def _as_pairs(samples: Any) -> Samples:
    """A copy; `samples` is a list of tuples, or a NumPy array of two columns."""
    return Samples(samples if type(samples) is list else ((path, label) for path, label in samples))


class _Known:
    """What was found of each data set that lives: a million files take a second to look at."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[weakref.ref[Any], Collection[type], Files]] = {}

    def get(self, dataset: Any, whole: Collection[type]) -> Files | None:
        """Nothing where the list has changed. Of arrays `==` is no answer."""
        found = self._found.get(id(dataset))
        if found is None or type(dataset.samples) is not list:
            return None
        owner, last_whole, files = found
        is_same = last_whole == whole and files.samples == dataset.samples
        return files if is_same and owner() is dataset else None

    def keep(self, dataset: Any, whole: Collection[type], files: Files) -> None:
        key = id(dataset)
        forget = weakref.ref(dataset, lambda _: self._found.pop(key, None))
        self._found[key] = (forget, whole, files)


_known = _Known()


def look_at_files(dataset: Any, whole: Collection[type]) -> Files:
    obstacle = obstacle_to_reading(dataset)
    if obstacle is not None:
        return Files(Samples(), obstacle=obstacle)
    if len(dataset.samples) == 0:
        return Files(Samples(), obstacle="there are none")
    files = _known.get(dataset, whole)
    if files is None:
        files = _look_anew(dataset, whole)
        _known.keep(dataset, whole, files)
    return files


def _look_anew(dataset: Any, whole: Collection[type]) -> Files:
    try:
        samples = _as_pairs(dataset.samples)
        others = frozenset(i for i, (path, _) in enumerate(samples) if not is_decoded(path))
    except (TypeError, ValueError):
        return Files(Samples(), obstacle="not a list of (path, label)")
    obstacle = None
    if len(others) > _OTHERS_RATIO_MAX * len(samples):
        more = "" if len(others) == 1 else f", and {len(others) - 1} more"
        obstacle = f"{samples[min(others)][0]} is of a format that is not decoded natively{more}"
    other_label = next((label for _, label in samples if type(label) not in whole), None)
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


@functools.cache
def _endings() -> tuple[str, ...]:
    from unstarve import _native

    return tuple(_native.image_endings())


def is_decoded(path: Any) -> bool:
    """Whether the engine reads it, by its name, which may be anything that open() takes.

    The bytes decide in the end.
    """
    name: str = path if isinstance(path, str) else os.fsdecode(path)
    return name.lower().endswith(_endings())
