"""Which engine loads a loader's samples, and what there is to say about it."""

from __future__ import annotations

import os
from typing import Any

from unstarve.dataloader.epoch_iterators import HAS_OWN_WORKERS, uses_threads
from unstarve.engine.environment import cache_folder
from unstarve.engine.native_plan import plan_obstacle
from unstarve.engine.opening_view import SWITCH, opens_images, reads_arrays
from unstarve.engine.table_images import table_obstacle
from unstarve.lowering.decision import Lowering
from unstarve.lowering.explanation import Explanation


def explanation_of(loader: Any, lowering: Lowering) -> Explanation:
    known = lowering.work or lowering.partly
    obstacle = None if known is None else plan_obstacle(known.plan)
    if lowering.work is not None and obstacle is None:
        obstacle = table_obstacle(lowering.work, lowering.dataset)
    if lowering.work is not None and obstacle is None:
        why = "every part of the work is known"
        return Explanation("native", why, lowering.parts, [*_notes(loader), *lowering.notes])
    notes = [*_notes_in_python(loader), *lowering.notes]
    if lowering.partly is not None and obstacle is None:
        if cache_folder():
            notes.append(f"copies are kept below {os.environ['UNSTARVE_CACHE_DIR']}")
        return Explanation("partly", lowering.obstacle, lowering.parts, notes)
    reason = obstacle or lowering.obstacle
    is_torch = loader.num_workers == 0 or not HAS_OWN_WORKERS
    if not is_torch and not uses_threads(loader):
        notes += _notes_on_images()
    return Explanation("torch" if is_torch else "workers", reason, lowering.parts, notes)


def _notes_on_images() -> list[str]:
    """Of those that the data set's own Python opens."""
    notes = []
    if opens_images():
        notes.append(
            "JPEGs that the data set opens as RGB are decoded natively where a Compose of "
            f"torchvision gets them, and compared with Pillow's first; {SWITCH}=0 leaves them"
        )
    if reads_arrays():
        notes.append(
            "JPEGs that become arrays for a Compose of albumentations alone are decoded natively, "
            "no more than a first crop wants, and compared with OpenCV's or Pillow's first; "
            f"albumentations draws and computes as ever; {SWITCH}=0 leaves them"
        )
    return notes


def _notes(loader: Any) -> list[str]:
    notes = []
    if loader.num_workers > 0:
        notes.append(f"num_workers={loader.num_workers}: at most so many loading threads")
    else:
        notes.append("num_workers=0: as many loading threads as the process may use CPUs")
    if not getattr(loader, "in_order", True):  # torch has it from 2.6 on
        notes.append("in_order=False: batches come in order all the same, none waits for another")
    if loader.multiprocessing_context is not None:
        notes.append("multiprocessing_context: there are no worker processes")
    return notes


def _notes_in_python(loader: Any) -> list[str]:
    if loader.num_workers == 0:
        return ["num_workers=0: samples are loaded in this process, between the steps"]
    if uses_threads(loader):
        return [
            f"num_workers={loader.num_workers} worker threads, which share the data set, since "
            "Python runs without the interpreter lock; multiprocessing_context gives processes"
        ]
    return [f"num_workers={loader.num_workers} worker processes"]
