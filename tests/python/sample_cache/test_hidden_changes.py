"""No sample is ever served that the data set would not have made: of data sets whose samples
change, by whatever hidden way, nothing is served from before the change."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import hidden
import hidden_files
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from unstarve.sample_cache.dataset import cached

PASSES = 3
ALL = [
    kind
    for kind in [*vars(hidden).values(), *vars(hidden_files).values()]
    if isinstance(kind, type) and issubclass(kind, hidden.Hidden) and kind is not hidden.Hidden
]
IN_WORKERS = [
    *(hidden.ByRandom, hidden.OfOneSampleOnly, hidden.ByOwnGenerator, hidden.ByWorker),
    *(hidden.ByEpoch, hidden.BySharedTensor, hidden_files.ByFile, hidden.ByNumberOfCalls),
]


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "SCALE", 1.0)
    monkeypatch.setattr(hidden, "OFFSETS", [0.0, 1.0])
    monkeypatch.delenv("UNSTARVE_TEST_SCALE", raising=False)
    monkeypatch.setenv("UNSTARVE_TEST_SCALE", "1")


def seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)


def passes(dataset: Any, change: Any, workers: int) -> list[bytes]:
    made = []
    for number in range(PASSES):
        seed(number)
        loader = DataLoader(dataset, batch_size=None, num_workers=workers)
        made.append(pickle.dumps([sample.numpy().tobytes() for sample in loader]))
        change()
    return made


def fresh(kind: type, folder: Path) -> Any:
    """Of the class's own, whatever another test did with it."""
    folder.mkdir()
    return type(kind.__name__, (kind,), {"__module__": kind.__module__})(folder)


@pytest.mark.filterwarnings("ignore:unstarve.cached keeps nothing")
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: str(kind.__name__))
def test_a_sample_that_changes_is_not_served(kind: type, tmp_path: Path) -> None:
    check(kind, 0, tmp_path)


@pytest.mark.filterwarnings("ignore:unstarve.cached keeps nothing")
@pytest.mark.parametrize("kind", IN_WORKERS, ids=lambda kind: str(kind.__name__))
def test_nor_by_workers(kind: type, tmp_path: Path) -> None:
    check(kind, 2, tmp_path)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:unstarve.cached keeps nothing")
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: str(kind.__name__))
def test_nor_any_by_workers(kind: type, tmp_path: Path) -> None:
    check(kind, 2, tmp_path)


def check(kind: type, workers: int, tmp_path: Path) -> None:
    seed(77)
    plain = fresh(kind, tmp_path / "plain")
    expected = passes(plain, plain.change, workers)
    seed(77)
    watched = fresh(kind, tmp_path / "watched")
    keeps = cached(watched, folder=tmp_path)
    found = passes(keeps, watched.change, workers)
    served = keeps._unstarve_keeper.served()
    if served:
        assert found == expected, keeps.explain()
    else:
        assert "nothing is kept" in keeps.explain() or len(set(found)) > 1, keeps.explain()


def test_there_are_more_than_forty() -> None:
    assert len(ALL) > 40
