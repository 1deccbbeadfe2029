"""How much of a batch of texts is padding, and streams whose workers skip what they made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hook_jobs import hook_module, run_job

TEXTS = """
import sys, torch
from torch.utils.data import DataLoader, Dataset

class Texts(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        ids = torch.zeros(64, dtype=torch.long)
        ids[: 8 + index % 8] = torch.arange(1, 9 + index % 8) * 100
        return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": index}

loader = DataLoader(Texts(), batch_size=8, num_workers=int(sys.argv[1]))
for _ in range(2):
    for batch in loader:
        pass
"""


@pytest.mark.parametrize(("workers", "of_epoch"), [(0, 64), (1, 64), (0, 8)])
def test_columns_that_no_text_needs_are_counted(
    tmp_path: Path, workers: int, of_epoch: int
) -> None:
    (tmp_path / "train.py").write_text(TEXTS.replace("return 64", f"return {of_epoch}"))
    job = run_job(tmp_path, [tmp_path / "train.py", workers])
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    assert job.main.text["dataset"]["columns"] == (
        [8 * 64, 8 * 15] if of_epoch == 64 else [2 * 64, 2 * 15]
    )


IDS = 7 * torch.arange(1, 8 * 32 + 1).reshape(8, 32)


def padded(columns: int, at_start: bool = False) -> Any:
    ids = IDS.clone()
    if columns:
        ids[:, :columns] = 0
    return ids if at_start else ids.flip(1)


BATCHES: dict[str, tuple[Any, tuple[int, int] | None]] = {
    "padded at the end": ((padded(12), torch.zeros(8)), (32, 20)),
    "padded at the start": ((padded(12, at_start=True), torch.zeros(8)), (32, 20)),
    "by name": ({"ids": padded(12)}, (32, 20)),
    "ids alone": (padded(0), (32, 32)),
    "the longest text": (
        {"attention_mask": torch.arange(32) < torch.arange(22, 30)[:, None]},
        (32, 29),
    ),
    "a mask of floats": ({"attention_mask": torch.zeros(8, 32)}, None),
    "pixels": ((padded(12) % 256, torch.zeros(8)), None),
    "flags": ((torch.zeros(8, 32, dtype=torch.long), 1), None),
    "numbers": ((torch.rand(8, 32), 1), None),
    "one text": ((IDS[:1], 1), None),
    "few columns": ((IDS[:, :8], 1), None),
    "no tensor": (([1, 2], 1), None),
    "nothing": ([], None),
    "sparse": ((padded(12).to_sparse(), 1), None),
    "no numbers": ((IDS.to("meta"), 1), None),
}


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_of_texts_is_known(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    batch, columns = BATCHES[name]
    with hook_module("padding", monkeypatch) as padding:
        assert padding._columns_of(batch) == columns


STREAM = """
import itertools
from itertools import islice
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Rows(IterableDataset):
    def rows(self):
        for number in range(64):
            yield float(number)

    def __iter__(self):
        info = get_worker_info()
        {body}

for batch in DataLoader(Rows(), batch_size=8, num_workers=2):
    pass
"""
ISLICE = "return islice(self.rows(), info.id, None, info.num_workers)"
BY_TURNS = """for index, row in enumerate(self.rows()):
            if index % info.num_workers == info.id:
                yield row"""
SKIPPED = """samples = self.rows()
        for index, row in enumerate(samples):
            if index % info.num_workers != info.id:
                continue
            yield row"""
DIVIDED = """for number in range(info.id, 64, info.num_workers):
            yield float(number)"""
BY_FILES = """files = [1, 2, 3]
        for file in itertools.islice(files, info.id, None, info.num_workers):
            yield from self.rows()"""
ESCAPED = """message = "\\d"
        return islice(self.rows(), info.id, None, info.num_workers)"""
EVERY_TENTH = """for index, row in enumerate(self.rows()):
            if index % 10 == 0:
                yield row"""


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (ISLICE, 13),
        (BY_TURNS, 14),
        (SKIPPED, 15),
        (DIVIDED, None),
        (BY_FILES, None),
        (EVERY_TENTH, None),
        (ESCAPED, None),
    ],
    ids=["islice", "by turns", "skipped", "divided", "by files", "every tenth", "escaped"],
)
def test_samples_that_are_made_and_skipped_are_told(
    tmp_path: Path, body: str, line: int | None
) -> None:
    # Imported, so that Python has its own word about the source before.
    (tmp_path / "rows.py").write_text(STREAM.split("for batch")[0].format(body=body))
    (tmp_path / "train.py").write_text(
        "import warnings; warnings.simplefilter('ignore'); from rows import *\n"
        "warnings.simplefilter('always')\nfor batch" + STREAM.split("for batch")[1]
    )
    job = run_job(tmp_path, [tmp_path / "train.py"])
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    words = job.main.text["dataset"]
    assert words.get("skips_at") == (None if line is None else f"{tmp_path}/rows.py:{line}")
    assert words.get("skipped_made_by") == (None if line is None else ["rows"])
