"""How other libraries keep samples that were made once. Each is measured where it is installed.

A peer takes a data set and a folder, and gives one whose samples are kept: while they are made for
the first time, or beforehand, which counts as part of the first pass. None of them proves that a
sample may be kept: `transform`s that draw or `map`ped functions are taken to be the user's care.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch


def monai_persistent(dataset: Any, folder: Path) -> Any:
    """A file for each sample, by torch.save, named by a hash of the item."""
    from monai.data import PersistentDataset

    return PersistentDataset(list(range(len(dataset))), dataset.__getitem__, cache_dir=folder)


def monai_in_memory(dataset: Any, _folder: Path) -> Any:
    """All samples in this process's memory, made beforehand; a copy of each is handed out."""
    from monai.data import CacheDataset

    indices = list(range(len(dataset)))
    return CacheDataset(indices, dataset.__getitem__, num_workers=1, progress=False)


def litdata_optimized(dataset: Any, folder: Path) -> Any:
    """Chunks of 64 MB, made beforehand by a process of its own."""
    import litdata

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        litdata.optimize(
            fn=dataset.__getitem__,
            inputs=list(range(len(dataset))),
            output_dir=str(folder),
            num_workers=1,
            chunk_bytes="64MB",
        )
        return litdata.StreamingDataset(str(folder))


class Mapped(torch.utils.data.Dataset):  # type: ignore[misc]
    """What `datasets.map` keeps: a table, whose row is made a tuple again where it was one."""

    def __init__(self, dataset: Any, folder: Path) -> None:
        import datasets

        datasets.disable_progress_bars()
        first = dataset[0]
        self.names = list(first) if isinstance(first, dict) else None
        rows = datasets.Dataset.from_dict({"index": list(range(len(dataset)))})

        def make(row: dict[str, int]) -> dict[str, Any]:
            sample = dataset[row["index"]]
            return sample if self.names else {str(i): field for i, field in enumerate(sample)}

        table = rows.map(
            make, remove_columns=["index"], cache_file_name=str(folder / "table.arrow")
        )
        self.table = table.with_format("torch")

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: int) -> Any:
        row = self.table[index]
        return row if self.names else tuple(row[str(i)] for i in range(len(row)))


PEERS: list[tuple[str, str, Callable[[Any, Path], Any]]] = [
    ("MONAI PersistentDataset", "monai", monai_persistent),
    ("MONAI CacheDataset", "monai", monai_in_memory),
    ("LitData optimize", "litdata", litdata_optimized),
    ("datasets.map", "datasets", Mapped),
]


def installed_peers() -> list[tuple[str, Callable[[Any, Path], Any]]]:
    return [
        (name, make) for name, module, make in PEERS if importlib.util.find_spec(module) is not None
    ]
