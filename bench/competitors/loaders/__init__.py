"""One file per loader; each does the work of task.py. Imports happen in the constructors, so that a
process needs only its own loader's packages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loaders.with_dali import Dali
from loaders.with_ffcv import Ffcv
from loaders.with_spdl import Spdl
from loaders.with_tf_data import TfData
from loaders.with_torch import Torch
from loaders.with_unstarve import DropIn, Unstarve
from loaders.with_webdataset import WebDataset

SHARDS = "shards"  # in the scratch folder, written by `unstarve pack`

# Called with the folder of images, the number of threads, and a scratch folder for the loaders
# that need the data in a form of their own.
LOADERS: dict[str, Callable[[Path, int, Path], Any]] = {
    "unstarve": lambda root, threads, _: Unstarve(root, threads),
    "drop_in": lambda root, threads, _: DropIn(root, threads),
    "unstarve_avx2": lambda root, threads, _: Unstarve(root, threads, "avx2"),
    "shards": lambda _, threads, scratch: Unstarve(scratch / SHARDS, threads),
    "shards_avx2": lambda _, threads, scratch: Unstarve(scratch / SHARDS, threads, "avx2"),
    "dali": lambda root, threads, _: Dali(root, threads),
    "torch_tv": lambda root, threads, _: Torch(root, threads, "torchvision"),
    "torch_pil": lambda root, threads, _: Torch(root, threads, "pil"),
    "spdl": Spdl,
    "tf_data": TfData,
    "webdataset": WebDataset,
    "ffcv": Ffcv,
}
OURS = ["unstarve", "drop_in", "unstarve_avx2", "shards", "shards_avx2"]
PEERS = [name for name in LOADERS if name not in OURS]
