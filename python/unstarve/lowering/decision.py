"""Decides whether a DataLoader's work can run in the native engine, and says why or why not.

Everything that the engine would replace is looked at: the class of the data set, how it reads
files, what is done to images and labels, how samples become batches. What is not known exactly
stays Python; where that leaves the files and the first transforms, the engine can do those.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from unstarve.lowering.batches.collation import goes_on_from_default
from unstarve.lowering.composition import Prefix, read_prefix, read_transform
from unstarve.lowering.files import Files, look_at_files, obstacle_to_reading
from unstarve.lowering.originals import is_own, is_plain
from unstarve.lowering.tables.data_set import is_table, look_at_table
from unstarve.lowering.work import Samples, Work


@dataclass(frozen=True)
class Part:
    """One part of the work: whether the engine could do it, and if not, why."""

    what: str
    native: bool
    why: str = ""


@dataclass(frozen=True)
class Lowering:
    """The decision: `work` is for the engine alone, `partly` is what it can do of each sample
    before Python goes on with it; both are None when Python has to do everything."""

    work: Work | None
    parts: list[Part]
    partly: Work | None = None
    #: Why the engine cannot do everything.
    obstacle: str = ""
    #: What else there is to say.
    notes: list[str] = field(default_factory=list)
    #: The data set that the files are of, inside its Subsets.
    dataset: Any = None


def lower(loader: Any) -> Lowering:
    """Looks at a torch DataLoader. Changes nothing, reads no file."""
    parts: list[Part] = []
    dataset, subsets = _inside_subsets(loader.dataset)
    if is_table(dataset):
        return _lower_table(loader, dataset, subsets)
    goes_on = _goes_on_from_default(loader)
    _judge(parts, "batches", _obstacle_to_batches(loader, goes_on))
    _judge(parts, f"data set {type(dataset).__name__}", _obstacle_to_dataset(dataset))
    if not parts[-1].native:
        return Lowering(None, parts, obstacle=_first_obstacle(parts))
    files = look_at_files(dataset, _whole_numbers(loader))
    _judge(parts, "files", files.obstacle)
    _judge(parts, "labels", _obstacle_to_labels(dataset, files))
    plan, verdicts = read_transform(dataset.transform)
    for verdict in verdicts:
        _judge(parts, verdict.part, verdict.obstacle)
    obstacle = _first_obstacle(parts)
    notes = []
    if files.others:
        one = files.samples[min(files.others)][0]
        notes.append(f"most files are read natively, files like {one} by Python")
    if plan is not None and not obstacle:
        notes += [_COLLATES_HERE] if goes_on else []
        work = Work(plan, files.samples, subsets, files.others, collates=goes_on)
        return Lowering(work, parts, notes=notes)
    if len(files.others) == len(files.samples):
        return Lowering(None, parts, obstacle=obstacle)
    prefix = read_prefix(dataset.transform)
    if prefix is None:
        return Lowering(None, parts, obstacle=obstacle, notes=[_NOTHING_GAINED])
    work = Work(prefix.plan, files.samples, subsets, files.others, files.other_label)
    parts = _of_prefix(parts, len(verdicts), prefix)
    return Lowering(None, parts, work, obstacle, notes, dataset)


def _lower_table(loader: Any, dataset: Any, subsets: tuple[Sequence[int], ...]) -> Lowering:
    parts: list[Part] = []
    batched = loader.batch_sampler is not None
    obstacle = _obstacle_in_workers(loader) if batched else "single samples, not batches"
    _judge(parts, "batches", obstacle)
    look = look_at_table(dataset, loader.collate_fn)
    for verdict in look.verdicts:
        _judge(parts, verdict.part, verdict.obstacle)
    obstacle = _first_obstacle(parts)
    if obstacle or look.plan is None:
        return Lowering(None, parts, obstacle=obstacle)
    if look.indices is not None:
        subsets = (*subsets, look.indices)
    work = Work(look.plan, Samples(), subsets, rows=look.rows)
    return Lowering(work, parts, dataset=dataset)


def prefix_of(dataset: Any) -> Prefix | None:
    """What the engine can do of each sample of a data set, Subsets aside; None: nothing."""
    if _obstacle_to_dataset(dataset) is not None or obstacle_to_reading(dataset) is not None:
        return None
    return read_prefix(dataset.transform)


_COLLATES_HERE = (
    "collate_fn runs in this process, on what default_collate would have given; with workers it "
    "draws from the epoch's seed and the batch's place"
)
_NOTHING_GAINED = "nothing runs natively: no change of size comes before what stays Python"


def _first_obstacle(parts: list[Part]) -> str:
    return next((f"{part.what}: {part.why}" for part in parts if not part.native), "")


def _of_prefix(parts: list[Part], transforms: int, prefix: Prefix) -> list[Part]:
    """What becomes of each part where the engine does the first transforms of each sample."""
    begin = len(parts) - transforms
    found = []
    for number, part in enumerate(parts):
        by_engine = part.native and part.what not in ("batches", "labels")
        if number >= begin:
            by_engine = number < begin + prefix.count
        why = part.why if by_engine or part.why else "of samples that Python ends"
        found.append(Part(part.what, by_engine, why))
    return found


def _whole_numbers(loader: Any) -> Collection[type]:
    """Classes of labels of which a batch is a tensor of int64."""
    numpy = sys.modules.get("numpy")
    if numpy is None or loader.batch_sampler is None:
        return (int,)  # a single label stays what it is
    return (int, numpy.int64)


def _judge(parts: list[Part], what: str, obstacle: str | None) -> None:
    parts.append(Part(what, obstacle is None, obstacle or ""))


def _obstacle_to_batches(loader: Any, goes_on: bool) -> str | None:
    utils = sys.modules["torch.utils.data._utils.collate"]
    batched = loader.batch_sampler is not None
    expected = utils.default_collate if batched else utils.default_convert
    if not is_own(expected, utils, expected.__name__):
        return f"{expected.__name__} has been exchanged"
    if loader.collate_fn is not expected and not goes_on:
        return "a collate_fn of your own, which does more than go on from default_collate"
    if goes_on and loader.worker_init_fn is not None:
        return "a worker_init_fn, which may seed what the collate_fn draws from"
    return _obstacle_in_workers(loader)


def _goes_on_from_default(loader: Any) -> bool:
    """Whether its collate_fn is one of the script's own that the engine's batches suffice for."""
    utils = sys.modules["torch.utils.data._utils.collate"]
    is_default = loader.collate_fn in (utils.default_collate, utils.default_convert)
    if is_default or loader.batch_sampler is None:
        return False
    return goes_on_from_default(loader.collate_fn)


def _obstacle_in_workers(loader: Any) -> str | None:
    utils = sys.modules["torch.utils.data._utils.collate"]
    if loader.worker_init_fn is not None and not _only_seeds(loader.worker_init_fn):
        return "worker_init_fn runs in Python workers"
    if utils.default_collate_fn_map.keys() - _known_collate_types():
        return "default_collate has been extended"
    return None


#: Of libraries: functions that seed a worker's generators and do nothing else. Where all of the
#: work is native nothing draws from those.
_SEEDING = (
    ("timm.data.loader", "_worker_init"),
    ("lightning.fabric.utilities.seed", "pl_worker_init_function"),
    ("lightning_fabric.utilities.seed", "pl_worker_init_function"),
    ("transformers.trainer_utils", "seed_worker"),
)


def _only_seeds(function: Any) -> bool:
    if type(function) is functools.partial:
        function = function.func
    return any(
        module in sys.modules and is_own(function, sys.modules[module], name)
        for module, name in _SEEDING
    )


def _known_collate_types() -> set[Any]:
    """Those that torch itself registers, or our worker threads, which stack as torch does, or those
    who hand on a batch that is there; others would change what a batch looks like."""
    utils = sys.modules["torch.utils.data._utils.collate"]
    known = (utils.__name__, "unstarve.workers.threads", "unstarve.engine.ready_batch")
    return {
        kind
        for kind, function in utils.default_collate_fn_map.items()
        if getattr(function, "__module__", None) in known
    }


def _inside_subsets(dataset: Any) -> tuple[Any, tuple[Sequence[int], ...]]:
    subset_class = sys.modules["torch.utils.data"].Subset
    subsets = []
    while type(dataset) is subset_class and is_plain(dataset):
        subsets.append(dataset.indices)
        dataset = dataset.dataset
    return dataset, tuple(subsets)


def _obstacle_to_dataset(dataset: Any) -> str | None:
    datasets = sys.modules.get("torchvision.datasets")
    known = () if datasets is None else ("ImageFolder", "DatasetFolder", "ImageNet")
    classes = [getattr(datasets, name) for name in known if hasattr(datasets, name)]
    if type(dataset) in classes:
        return None if is_plain(dataset) else "methods of it, or of its class, have been exchanged"
    if type(dataset) is sys.modules["torch.utils.data"].Subset:
        return "methods of a Subset, or of its class, have been exchanged"
    for base in type(dataset).__mro__[1:]:
        if base in classes:
            return f"a subclass of {base.__name__}, which may do something else"
    return "not a torchvision ImageFolder, DatasetFolder or ImageNet"


def _obstacle_to_labels(dataset: Any, files: Files) -> str | None:
    if dataset.target_transform is not None:
        return "a target_transform"
    if files.other_label is not None:
        return f"{files.other_label!r} is not an int"[:80]
    return None


__all__ = ["Lowering", "Part", "lower", "prefix_of"]
