"""Copies of a data set that is kept: for processes that are spawned, and in this one."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import unstarve
from torch.utils.data import Dataset

JOB = """
import sys, warnings
import numpy as np, torch, unstarve
from torch.utils.data import DataLoader, Dataset

scale = 1.0

def scaled(wave):
    return torch.from_numpy((wave * scale).astype(np.float32))

class Waves(Dataset):
    def __init__(self):
        self.waves = np.random.default_rng(3).standard_normal((40, 500))
        self.transform = scaled
    def __len__(self):
        return 40
    def __getitem__(self, index):
        return self.transform(self.waves[index])

if __name__ == "__main__":
    if "another" in sys.argv:
        scale = 2.0  # which a process that is spawned does not do
    kept = unstarve.cached(Waves())
    for number in range(2):
        loaders = [DataLoader(data, 8, num_workers=1, multiprocessing_context="spawn")
                   for data in (kept, Waves())]
        same = [torch.equal(one, other) for one, other in zip(*loaders)]
        print(len(same), all(same), kept._unstarve_keeper.served())
"""


@pytest.mark.parametrize(
    ("arguments", "served"), [([], [0, 40]), (["another"], [0, 0])], ids=["a copy", "another"]
)
def test_workers_that_are_spawned_go_on_with_what_is_kept(
    arguments: list[str], served: list[int], tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(JOB)
    done = subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines() == [f"5 True {count}" for count in served], done.stderr
    assert ("another data set than where it comes from" in done.stderr) is bool(arguments)


class Squares(Dataset):  # type: ignore[misc]
    def __init__(self) -> None:
        self.numbers: Any = torch.arange(2000.0).reshape(50, 40)

    def __len__(self) -> int:
        return 50

    def __getitem__(self, index: int) -> Any:
        return self.numbers[index] ** 2


def pickled(kept: Any) -> Any:
    return pickle.loads(pickle.dumps(kept))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_a_copy_is_served_and_stands_by_itself(copied: Any, tmp_path: Path) -> None:
    kept = unstarve.cached(Squares(), folder=tmp_path)
    first = [kept[index] for index in range(50)]
    other = copied(kept)
    assert all(torch.equal(other[index], first[index]) for index in range(50))
    assert kept._unstarve_keeper.served() == 50
    other.numbers[7] = 0
    assert other[7].sum() == 0
    assert torch.equal(kept[7], first[7])


def test_a_copy_of_one_that_has_changed_keeps_nothing(tmp_path: Path) -> None:
    kept = unstarve.cached(Squares(), folder=tmp_path)
    kept.numbers[3] = 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        other = pickled(kept)
    assert "a copy of one of which nothing is kept" in str(told[0].message)
    assert other[3].sum() == 0 and torch.equal(other[4], Squares()[4])


LAMBDAS = """
import sys, torch, unstarve

class Steps(torch.utils.data.Dataset):
    def __init__(self):
        self.steps = [lambda x: x + 1, lambda x: x * 2]
    def __len__(self):
        return 40
    def __getitem__(self, index):
        sample = torch.full((300,), float(index))
        for step in self.steps:
            sample = step(sample)
        return sample

print(unstarve.cached(Steps(), folder=sys.argv[1]).explain())
"""


def test_lambdas_have_no_name_that_a_later_run_could_find(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(LAMBDAS)
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, timeout=120
    )
    assert "for this run alone" in done.stdout, done.stderr
