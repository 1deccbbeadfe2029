"""Decides whether a DataLoader's work can run in the native engine, and says why or why not.

Everything that the engine would replace is looked at: the class of the data set, how it reads
files, what is done to images and labels, how samples become batches. What is not known exactly
stays Python.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unstarve.lowering_transforms import NotLowerable, read_transform
from unstarve.plan import Plan

#: File names that the engine reads; the bytes decide in the end.
_JPEG_ENDINGS = (".jpg", ".jpeg")


@dataclass(frozen=True)
class Part:
    """One part of the work: whether the engine could do it, and if not, why."""

    what: str
    native: bool
    why: str = ""


@dataclass(frozen=True)
class Work:
    """What the engine has to do instead of the user's data set."""

    plan: Plan
    #: (path, label) of every file, in the order of the data set's indices: a copy of its list,
    #: which the data set's owner may change.
    samples: list[tuple[str, int]]
    #: For Subsets, from the outermost in: an index is looked up in each in turn.
    subsets: tuple[Sequence[int], ...]

    def is_same(self, other: Work) -> bool:
        """Whether the engine that was made for this can do the other."""
        return self.plan == other.plan and self.samples == other.samples

    def native_indices(self, indices: Sequence[Any]) -> list[int]:
        """The files that a batch of the data set's indices means; IndexError as a list's."""
        count = len(self.samples)
        for subset in self.subsets:
            indices = [subset[index] for index in indices]
        files = [int(index) for index in indices]
        for index in files:
            if not -count <= index < count:
                raise IndexError("list index out of range")
        return [index + count if index < 0 else index for index in files]


@dataclass(frozen=True)
class Lowering:
    """The decision: `work` is None when Python has to do it."""

    work: Work | None
    parts: list[Part]


def lower(loader: Any, last: Work | None = None) -> Lowering:
    """Looks at a torch DataLoader. Changes nothing, reads no file.

    `last` is what was found before: a list of files that has not changed is not looked at again.
    """
    parts: list[Part] = []
    _judge(parts, "batches", _obstacle_to_batches(loader))
    dataset, subsets = _inside_subsets(loader.dataset)
    _judge(parts, f"data set {type(dataset).__name__}", _obstacle_to_dataset(dataset))
    plan = None
    if parts[-1].native:
        is_known = last is not None and last.samples == dataset.samples
        _judge(parts, "files", _obstacle_to_files(dataset, is_known))
        _judge(parts, "labels", _obstacle_to_labels(dataset))
        plan, verdicts = read_transform(dataset.transform)
        for verdict in verdicts:
            _judge(parts, verdict.part, verdict.obstacle)
    if plan is None or not all(part.native for part in parts):
        return Lowering(None, parts)
    samples = last.samples if last is not None and is_known else list(dataset.samples)
    return Lowering(Work(plan, samples, subsets), parts)


def _judge(parts: list[Part], what: str, obstacle: str | None) -> None:
    parts.append(Part(what, obstacle is None, obstacle or ""))


def _obstacle_to_batches(loader: Any) -> str | None:
    utils = sys.modules["torch.utils.data._utils.collate"]
    batched = loader.batch_sampler is not None
    expected = utils.default_collate if batched else utils.default_convert
    if loader.collate_fn is not expected:
        return "a collate_fn of your own"
    if loader.worker_init_fn is not None:
        return "worker_init_fn runs in Python workers"
    if utils.default_collate_fn_map.keys() - _known_collate_types():
        return "default_collate has been extended"
    return None


def _known_collate_types() -> set[Any]:
    """Those that torch itself registers; others would change what a batch looks like."""
    utils = sys.modules["torch.utils.data._utils.collate"]
    return {
        kind
        for kind, function in utils.default_collate_fn_map.items()
        if getattr(function, "__module__", None) == utils.__name__
    }


def _inside_subsets(dataset: Any) -> tuple[Any, tuple[Sequence[int], ...]]:
    subset_class = sys.modules["torch.utils.data"].Subset
    subsets = []
    while type(dataset) is subset_class:
        subsets.append(dataset.indices)
        dataset = dataset.dataset
    return dataset, tuple(subsets)


def _obstacle_to_dataset(dataset: Any) -> str | None:
    datasets = sys.modules.get("torchvision.datasets")
    known = () if datasets is None else ("ImageFolder", "DatasetFolder", "ImageNet")
    classes = [getattr(datasets, name) for name in known if hasattr(datasets, name)]
    if type(dataset) in classes:
        return None
    for base in type(dataset).__mro__[1:]:
        if base in classes:
            return f"a subclass of {base.__name__}, which may do something else"
    return "not a torchvision ImageFolder, DatasetFolder or ImageNet"


def _obstacle_to_files(dataset: Any, is_known: bool) -> str | None:
    folder = sys.modules["torchvision.datasets.folder"]
    if dataset.loader not in (folder.default_loader, folder.pil_loader):
        return "a loader of your own"
    if sys.modules["torchvision"].get_image_backend() != "PIL":
        return "torchvision's image backend is not PIL"
    if is_known:
        return None
    if not dataset.samples:
        return "there are none"
    other = next((p for p, _ in dataset.samples if not p.lower().endswith(_JPEG_ENDINGS)), None)
    if other is not None:
        return f"{other} is not a JPEG"
    return None


def _obstacle_to_labels(dataset: Any) -> str | None:
    if dataset.target_transform is not None:
        return "a target_transform"
    return None


__all__ = ["Lowering", "NotLowerable", "Part", "Work", "lower"]
