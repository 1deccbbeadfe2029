"""The hook says whether a loader's samples draw from the generators that their process shares."""

from __future__ import annotations

from pathlib import Path

import pytest
from hook_jobs import environment, run_job, run_python

JOB = """
import random
import numpy, torch
from torch.utils.data import DataLoader, Dataset

class Samples(Dataset):
    own = numpy.random.default_rng(0)

    def __len__(self):
        return 24

    def __getitem__(self, index):
        {draw}
        return torch.ones(2) * index

torch.manual_seed(1), random.seed(1), numpy.random.seed(1)
for batch in DataLoader(Samples(), batch_size=2, num_workers={workers}):
    pass
print(torch.rand(1).item(), random.random(), numpy.random.rand())
"""

DRAWS = {
    "torch": ("torch.rand(1)", True),
    "random": ("random.random()", True),
    "numpy": ("numpy.random.rand()", True),
    "of one sample": ("index == 5 and torch.rand(1)", True),
    "at the first one": ("index == 0 and torch.rand(1)", False),
    "nothing": ("pass", False),
    "a generator of its own": ("self.own.random()", False),
}


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("draws", DRAWS)
def test_whether_samples_draw(tmp_path: Path, draws: str, workers: int) -> None:
    draw, drew = DRAWS[draws]
    job = run_job(tmp_path, ["-c", JOB.format(draw=draw, workers=workers)])
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    told = [ring.text["fetches_draw"] for ring in job.rings if "fetches_draw" in ring.text]
    assert told == [{"0": drew}]


def test_looks_change_no_numbers(tmp_path: Path) -> None:
    script = JOB.format(draw="torch.rand(1), numpy.random.rand(), random.random()", workers=0)
    watched = run_job(tmp_path, ["-c", script]).process.stdout
    assert watched == run_python(["-c", script], environment()).stdout


MANY = """
from torch.utils.data import DataLoader
for episode in range(100):
    for batch in DataLoader(range(8), batch_size=1):
        pass
"""


def test_of_many_loaders_the_first_are_looked_at(tmp_path: Path) -> None:
    job = run_job(tmp_path, ["-c", MANY])
    assert job.errors == []
    told = job.main.text["fetches_draw"]
    assert 1 <= len(told) <= 16 and not any(told.values())
