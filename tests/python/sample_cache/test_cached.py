"""`unstarve.cached()`: what is kept, what is served, and what is left as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset
from unstarve.errors import InvalidArgumentError

COUNT = 50


@pytest.fixture(autouse=True)
def nothing_was_cached_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process finds what it kept of an equal data set, an earlier test's too."""
    monkeypatch.setattr("unstarve.sample_cache.dataset._FOLDERS", {})


class Windows(Dataset):  # type: ignore[misc]
    """Of a series; how often samples are made is counted in a file, which nobody reads."""

    def __init__(self) -> None:
        self.series: Any = np.random.default_rng(3).standard_normal(COUNT + 64)
        self.classes = ["up", "down"]

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < COUNT:
            raise IndexError(index)
        window = self.series[index : index + 64]
        scaled = (window - window.mean()) / window.std()
        return {"x": torch.from_numpy(scaled.astype(np.float32)), "up": float(window[-1]) > 0}


def all_of(dataset: Any, workers: int = 0) -> list[Any]:
    return list(DataLoader(dataset, batch_size=None, num_workers=workers))


def are_same(one: list[Any], other: list[Any]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(torch.equal(a["x"], b["x"]) and a["up"] is b["up"] for a, b in pairs)


@pytest.mark.parametrize("workers", [0, 2])
def test_the_second_pass_is_served(workers: int, tmp_path: Path) -> None:
    kept = unstarve.cached(Windows(), folder=tmp_path)
    expected = all_of(Windows())
    first, second = all_of(kept, workers), all_of(kept, workers)
    assert are_same(first, expected)
    assert are_same(second, expected)
    assert kept._unstarve_keeper.served() == COUNT
    assert f"{COUNT} of {COUNT} samples are kept" in kept.explain()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_set_that_is_made_anew_for_each_pass_is_served(workers: int) -> None:
    """`for epoch in ...: for batch in DataLoader(unstarve.cached(Windows()))`."""
    expected = all_of(Windows())
    for epoch in range(3):
        kept = unstarve.cached(Windows())
        before = kept._unstarve_keeper.served()
        assert are_same(all_of(kept, workers), expected)
        assert kept._unstarve_keeper.served() - before == (COUNT if epoch else 0)


def test_another_data_set_is_not_taken_for_an_earlier_one() -> None:
    first = unstarve.cached(Windows())
    all_of(first)
    other = Windows()
    other.series = other.series + 1.0
    other.series[7] = -3.0
    kept = unstarve.cached(other)
    assert are_same(all_of(kept), all_of(other))
    assert kept._unstarve_keeper._folder != first._unstarve_keeper._folder


def test_a_large_data_set_is_not_looked_at_for_an_earlier_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("unstarve.sample_cache.dataset._LOOKED_AT_MOST", 100)
    first, second = unstarve.cached(Windows()), unstarve.cached(Windows())
    assert first._unstarve_keeper._folder != second._unstarve_keeper._folder


def test_batches_are_torchs(tmp_path: Path) -> None:
    kept = unstarve.cached(Windows(), folder=tmp_path)
    expected = list(DataLoader(Windows(), batch_size=7))
    for _ in range(2):
        for batch, wanted in zip(DataLoader(kept, batch_size=7), expected, strict=True):
            assert torch.equal(batch["x"], wanted["x"])
            assert torch.equal(batch["up"], wanted["up"])


def test_who_writes_into_a_sample_changes_no_later_one(tmp_path: Path) -> None:
    kept = unstarve.cached(Windows(), folder=tmp_path)
    for sample in all_of(kept):
        sample["x"].zero_()
    for sample in all_of(kept):
        sample["x"].zero_()
    assert are_same(all_of(kept), all_of(Windows()))


def test_it_is_the_data_set_in_all_else(tmp_path: Path) -> None:
    dataset = Windows()
    kept = unstarve.cached(dataset, folder=tmp_path)
    assert len(kept) == COUNT
    assert kept.classes == ["up", "down"]
    assert isinstance(kept, Dataset)
    kept.classes = ["a", "b"]
    assert dataset.classes == ["a", "b"]
    with pytest.raises(AttributeError):
        kept.no_such_name  # noqa: B018
    with pytest.raises(IndexError):
        kept[COUNT]
    with pytest.raises(TypeError):
        kept["x"]


def test_what_does_not_fit_is_made(tmp_path: Path) -> None:
    kept = unstarve.cached(Windows(), folder=tmp_path, max_bytes=5_000)
    assert are_same(all_of(kept), all_of(Windows()))
    assert are_same(all_of(kept), all_of(Windows()))
    served = kept._unstarve_keeper.served()
    assert 0 < served < COUNT
    files = sum(file.stat().st_size for file in tmp_path.rglob("records-*"))
    assert files <= 5_000


class OfFiles(Windows):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        for number in range(COUNT):
            np.save(folder / f"{number}.npy", np.full(64, number, dtype=np.float32))

    def __getitem__(self, index: int) -> Any:
        return {"x": torch.from_numpy(np.load(self.folder / f"{index}.npy")), "up": True}


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    dataset = OfFiles(tmp_path)
    kept = unstarve.cached(dataset, folder=tmp_path)
    all_of(kept)
    np.save(tmp_path / "7.npy", np.full(64, -1, dtype=np.float32))
    samples = all_of(kept)
    assert float(samples[7]["x"][0]) == -1
    assert float(samples[8]["x"][0]) == 8
    assert kept._unstarve_keeper.served() == COUNT - 1
    assert float(all_of(kept)[7]["x"][0]) == -1
    assert kept._unstarve_keeper.served() == 2 * COUNT - 1, "it is kept anew"


def test_parts_and_unions_of_data_sets_are_kept(tmp_path: Path) -> None:
    for dataset in (Subset(Windows(), [4, 2, 9] * 12), ConcatDataset([Windows(), Windows()])):
        kept = unstarve.cached(dataset, folder=tmp_path)
        assert are_same(all_of(kept), all_of(dataset))
        assert are_same(all_of(kept), all_of(dataset))
        assert kept._unstarve_keeper.served() == len(dataset)


class Batches(Windows):
    """Cuts all of a batch at once."""

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [self[index] for index in indices]


class Centred(Windows):
    """What is taken off hangs on who else is in the batch."""

    def __getitems__(self, indices: list[int]) -> list[Any]:
        samples = [self[index] for index in indices]
        mean = torch.stack([sample["x"] for sample in samples]).mean()
        return [{**sample, "x": sample["x"] - mean} for sample in samples]


class Short(Windows):
    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [self[index] for index in indices[1:]]


def test_samples_that_are_made_in_batches_are_kept_if_they_are_those_made_alone(
    tmp_path: Path,
) -> None:
    for dataset in (Batches(), Subset(Batches(), list(range(0, COUNT, 2)))):
        kept = unstarve.cached(dataset, folder=tmp_path)
        expected = list(DataLoader(dataset, batch_size=7))
        for _ in range(2):
            for batch, wanted in zip(DataLoader(kept, batch_size=7), expected, strict=True):
                assert torch.equal(batch["x"], wanted["x"])
        assert kept._unstarve_keeper.served() == len(dataset)


class Views(Windows):
    def __init__(self) -> None:
        super().__init__()
        self.all = torch.randn(COUNT, 64)

    def __getitem__(self, index: int) -> Any:
        return {"x": self.all[index], "up": True}


class Lambdas(Windows):
    def __getitem__(self, index: int) -> Any:
        return {"x": super().__getitem__(index)["x"], "up": lambda: True}


class Nothing(Windows):
    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Centred, "is another one in a batch (__getitems__) than alone"),
        (lambda: Subset(Centred(), list(range(30))), "is another one in a batch"),
        (Short, "of another length than was asked for"),
        (Views, "views of what the data set holds"),
        (Lambdas, "cannot be kept"),
        (Nothing, "is empty"),
    ],
)
def test_why_nothing_is_kept_is_said(kind: Any, why: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="keeps nothing") as warned:
        kept = unstarve.cached(kind(), folder=tmp_path)
    assert why in str(warned[0].message)
    assert warned[0].filename == __file__
    assert why in kept.explain()
    assert not list(tmp_path.iterdir())


class Stream(IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Any:
        return iter(range(9))


def test_a_stream_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Stream is a stream"):
        unstarve.cached(Stream())


class Failing(Windows):
    def __getitem__(self, index: int) -> Any:
        if index == 13:
            raise ValueError("a torn file")
        return super().__getitem__(index)


def test_what_a_sample_raises_is_raised_each_time(tmp_path: Path) -> None:
    kept = unstarve.cached(Failing(), folder=tmp_path)
    for _ in range(2):
        for index in range(COUNT):
            if index == 13:
                with pytest.raises(ValueError, match="a torn file"):
                    kept[index]
            else:
                kept[index]
    assert kept._unstarve_keeper.served() == COUNT - 1


SCRIPT = """
import sys, torch, numpy as np, unstarve
from torch.utils.data import DataLoader, Dataset

FACTOR = 3

class Products(Dataset):
    def __init__(self):
        self.base = torch.arange(4096)
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return self.base * index * FACTOR

if __name__ == "__main__":
    kept = unstarve.cached(Products(), folder=FOLDER)
    torch.manual_seed(1)
    for _ in range(2):
        sums = [int(batch.sum()) for batch in DataLoader(kept, batch_size=8, shuffle=True)]
    print(sums[0], torch.rand(()).item(), SERVED)
"""
SERVED = "kept._unstarve_keeper.served()"


def run_script(tmp_path: Path, text: str, folder: Path | None, name: str = "script.py") -> str:
    """What it prints; its temporary files lie in a folder of their own."""
    script = tmp_path / name
    script.write_text(text.replace("FOLDER", repr(str(folder) if folder else None)))
    (tmp_path / "tmp").mkdir(exist_ok=True)
    env = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_a_scripts_own_process_is_as_it_was(tmp_path: Path) -> None:
    """Its random numbers are those that it would draw without, and nothing of ours stays."""
    kept = run_script(tmp_path, SCRIPT.replace("SERVED", SERVED), None)
    plain = SCRIPT.replace("unstarve.cached(Products(), folder=FOLDER)", "Products()")
    assert kept == run_script(tmp_path, plain.replace("SERVED", "64"), None)
    assert list((tmp_path / "tmp").glob("unstarve*")) == []


@pytest.mark.parametrize(
    ("change", "to", "is_another"),
    [
        ("", "", False),
        ("FACTOR = 3", "# What it is multiplied by.\nFACTOR = 3", False),
        ("FACTOR = 3", "FACTOR = 4", True),
        ("index * FACTOR", "index + FACTOR", True),
        ("torch.arange(4096)", "torch.arange(4096) + 1", True),
    ],
    ids=["the same", "a comment", "a global", "code", "what it holds"],
)
def test_a_later_run_is_served_what_it_would_make(
    change: str, to: str, is_another: bool, tmp_path: Path
) -> None:
    text = SCRIPT.replace("SERVED", SERVED)
    folder = tmp_path / "kept"
    assert run_script(tmp_path, text, folder).endswith(" 64\n")
    again = run_script(tmp_path, text.replace(change, to), folder)
    assert again.endswith(" 64\n" if is_another else " 192\n"), again
    plain = text.replace("unstarve.cached(Products(), folder=FOLDER)", "Products()")
    plain = plain.replace(SERVED, "0").replace(change, to)
    assert run_script(tmp_path, plain, folder).split()[:2] == again.split()[:2]
    assert len(list(folder.iterdir())) == (2 if is_another else 1)


class WithLambda(Windows):
    def __init__(self) -> None:
        super().__init__()
        self.scale = lambda x: x * 2


def test_what_has_no_name_is_kept_for_now(tmp_path: Path) -> None:
    kept = unstarve.cached(WithLambda(), folder=tmp_path)
    all_of(kept)
    all_of(kept)
    assert kept._unstarve_keeper.served() == COUNT
    assert "for this run alone" in kept.explain()


class Lacking(Windows):
    """A sample of it cannot be made."""

    def __getitem__(self, index: int) -> Any:
        if index == 7:
            raise ValueError("damaged")
        return super().__getitem__(index)


def test_an_error_of_the_data_set_comes_as_without_us(tmp_path: Path) -> None:
    kept = unstarve.cached(Lacking(), folder=tmp_path)
    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            kept[7]
        assert are_same([kept[8]], [Windows()[8]])


def test_an_error_of_ours_does_not_reach_the_job(tmp_path: Path) -> None:
    kept = unstarve.cached(Windows(), folder=tmp_path)
    kept[3]

    def fails(index: int) -> Any:
        raise RuntimeError("no such row")

    kept._unstarve_keeper._maker._graph.row = fails
    with pytest.warns(UserWarning, match=r"cannot watch it \(RuntimeError: no such row\)"):
        assert are_same([kept[4]], [Windows()[4]])
    assert "unstarve cannot watch it" in kept.explain()


def test_what_cannot_be_watched_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unstarve.sample_cache.graph import Graph

    def fails(graph: Graph, index: int) -> Any:
        raise RuntimeError("no such row")

    monkeypatch.setattr(Graph, "row", fails)
    with pytest.warns(UserWarning, match="keeps nothing: unstarve cannot watch it"):
        kept = unstarve.cached(Windows(), folder=tmp_path)
    assert are_same(all_of(kept), all_of(Windows()))


def test_files_of_a_run_that_is_watched_may_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSTARVE_RUN_DIR", str(tmp_path / "run"))
    ring, data = tmp_path / "run/rings/hook.ring", tmp_path / "data"
    ring.parent.mkdir(parents=True)
    ring.write_bytes(b"1")
    data.write_bytes(b"1")
    with ring.open("rb"), data.open("rb"):
        kept = unstarve.cached(Windows(), folder=tmp_path / "samples")
        all_of(kept)
        ring.write_bytes(b"22")
        all_of(kept)
        assert kept._unstarve_keeper.served() == COUNT
        data.write_bytes(b"22")
        all_of(kept)
        assert kept._unstarve_keeper.served() == COUNT, "another's file was read again"
