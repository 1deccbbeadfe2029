"""What the hook records of a job on our worker processes: the same as on torch's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hook_jobs import run_job
from unstarve import _native as native

JOB = """
import sys, torch
from torch.utils.data import DataLoader
from unstarve.workers import make_iterator

class Loader(DataLoader):
    def _get_iterator(self):
        return make_iterator(self, threads=False)

class Numbers:
    def __len__(self):
        return 40
    def __getitem__(self, index):
        return torch.full((3, 100, 100), float(index)), index

def main():
    torch.multiprocessing.set_start_method(sys.argv[1])
    for batch in Loader(Numbers(), batch_size=16, num_workers=2):
        assert batch[0].shape[1:] == (3, 100, 100)
    print("done")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_waits_and_fetches(tmp_path: Path, method: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(JOB)
    package = Path(native.__file__).parents[1]
    job = run_job(tmp_path, [script, method], path=[package])
    assert (job.process.returncode, job.process.stdout, job.process.stderr) == (0, "done\n", "")
    assert job.errors == []
    waits = job.main.of("wait")
    assert [(r["samples"], r["ended"]) for r in waits] == [(16, 0), (16, 0), (8, 0), (0, 1)]
    assert all(r["ready"] is not None for r in waits)
    fetches = [record for ring in job.rings for record in ring.of("fetch")]
    assert sorted(r["samples"] for r in fetches) == [8, 16, 16]
    assert all(r["collate_ns"] > 0 for r in fetches)


UNCOLLATED = """
import torch
from torch.utils.data import DataLoader
items = [
    (torch.zeros(16, 3, 8, 8), torch.zeros(16)),   # a batch that the data set made
    {"x": torch.zeros(4, 2), "y": torch.zeros(4), "name": "b"},
    (torch.zeros(3, 8, 8), 7),                     # a sample
    torch.zeros(5),
]
for item in DataLoader(items, batch_size=None):
    pass
print("done")
"""


def test_batches_that_the_data_set_makes_are_counted(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(UNCOLLATED)
    job = run_job(tmp_path, [script])
    assert (job.process.returncode, job.process.stdout, job.process.stderr) == (0, "done\n", "")
    assert job.errors == []
    assert [r["samples"] for r in job.main.of("wait")] == [16, 4, 1, 1, 0]


COUNTED = """
import time, torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(8, 2)), batch_size=2, num_workers=2)
for epoch in range(3):
    batches = iter(loader)
    for _ in range(4):
        next(batches)
del batches
print("done")
"""


def test_workers_that_end_with_their_iterator(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(COUNTED)
    job = run_job(tmp_path, [script])
    assert (job.process.returncode, job.process.stdout, job.process.stderr) == (0, "done\n", "")
    assert job.errors == []
    waits = job.main.of("wait")
    assert sum(r["ended"] for r in waits) == 3, "once for each iterator, which no next() ended"
    assert sum(r["samples"] for r in waits) == 24
