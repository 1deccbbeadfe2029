"""What `unstarve tune` has the hook do in one of its trials: apply levers, record losses.

UNSTARVE_TUNE is a JSON object: "levers" maps the names of levers to their settings, "survey" asks
which levers would not apply and why, "arguments" maps arguments of classes
("DataLoader.batch_size") to values, null where what the job has is to be recorded alone,
"first_batch_again" has loaders load nothing, "parity" has {"steps", "seed"} of a run that records
losses.
Without the variable nothing of this folder is imported. What was done is in RUN/tune.json
(docs/formats/tune.md).
"""

from __future__ import annotations

import json
import os
import sys
from types import ModuleType
from typing import Any


def begin(torch: ModuleType) -> None:
    """Right after torch was imported: no model and no optimizer is there yet."""
    from ..recorder import RECORDER, _is_child

    if _is_child():
        return
    wanted: dict[str, Any] = json.loads(os.environ["UNSTARVE_TUNE"])
    from . import levers
    from .diary import Diary
    from .job import Job
    from .parity import Parity

    asked: dict[str, Any] = wanted.get("levers") or {}
    for name in levers.NAMES:
        begins = getattr(levers.get(name), "begin", None) if name in asked else None
        if begins is not None:
            begins(torch, asked[name])
    parity = wanted.get("parity")
    recorded = Parity(torch, int(parity["steps"]), int(parity["seed"])) if parity else None
    diary = Diary(torch, RECORDER.run_dir, recorded)
    job = Job(torch, asked, bool(wanted.get("survey")), diary)
    job.watch()
    arguments = wanted.get("arguments")
    if arguments:
        _watch_constructions(arguments, diary)
    if wanted.get("first_batch_again"):
        from .feeding import give_first_batches_again

        give_first_batches_again()
    if recorded is not None:
        recorded.watch()


#: Of this process; none where no argument of a class is asked for.
_constructions: Any = None


def _watch_constructions(arguments: dict[str, Any], diary: Any) -> None:
    global _constructions
    from .constructed import Constructions

    _constructions = Constructions(arguments, diary)
    _constructions.watch(sys.modules["torch.utils.data.dataloader"])


def watch_class(module: ModuleType) -> None:
    """Right after a module was imported that has a class whose arguments may be asked for. It
    imports torch, so that begin() came before."""
    if _constructions is not None:
        _constructions.watch(module)
