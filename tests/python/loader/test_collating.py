"""Collate functions that go on from torch's default collation, on batches of the engine."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from collate_functions import GOING_ON, OTHERS, blended, by_numpy, either, mixed_in_turn
from distributions import distance, limit
from PIL import Image
from torch.utils import data
from torch.utils.data import default_collate
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import v2
from unstarve.lowering.batches.collation import goes_on_from_default

SIDE = 16
TO_FLOAT = v1.Compose([v1.CenterCrop(SIDE), v1.ToTensor(), v1.Normalize([0.5] * 3, [0.25] * 3)])


def make_folder(root: Path, count: int = 22, side: int = SIDE) -> Path:
    """Lossless pictures of noise, of two classes."""
    generator = np.random.default_rng(5)
    for number in range(count):
        path = root / f"class{number % 2}" / f"{number:04}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = generator.integers(0, 256, (side, side, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
    return root


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return datasets.ImageFolder(make_folder(tmp_path_factory.mktemp("images")), TO_FLOAT)


def seed_all() -> None:
    torch.manual_seed(3)
    random.seed(4)
    np.random.seed(5)


def next_draws() -> list[float]:
    return [float(torch.rand(())), random.random(), float(np.random.random())]


def epoch(loader: Any) -> tuple[list[Any], list[float]]:
    seed_all()
    return [flat(batch) for batch in loader], next_draws()


def flat(batch: Any) -> list[Any]:
    if isinstance(batch, torch.Tensor):
        return [batch.clone()]
    if isinstance(batch, dict):
        return [part for value in batch.values() for part in flat(value)]
    if isinstance(batch, list | tuple):
        return [part for value in batch for part in flat(value)]
    return [torch.tensor(batch)]


def assert_same(ours: list[Any], theirs: list[Any]) -> None:
    for own, other in zip(ours, theirs, strict=True):
        for a, b in zip(own, other, strict=True):
            assert a.dtype == b.dtype
            torch.testing.assert_close(a, b, rtol=0, atol=1e-5)


@pytest.mark.parametrize("collate_fn", GOING_ON)
def test_without_workers_it_draws_and_makes_what_it_does_in_torch(
    dataset: Any, collate_fn: Any
) -> None:
    """The transforms draw nothing: all that is drawn is the order's and the function's."""
    options = {"batch_size": 5, "shuffle": True, "collate_fn": collate_fn}
    loader = unstarve.DataLoader(dataset, **options)
    assert loader.explain().engine == "native", loader.explain()
    assert "default_collate would have given" in str(loader.explain())
    ours, our_draws = epoch(loader)
    theirs, their_draws = epoch(data.DataLoader(dataset, **options))
    assert_same(ours, theirs)
    assert our_draws == their_draws


@pytest.mark.parametrize("persistent", [False, True])
def test_with_workers_the_jobs_generators_are_left_alone(dataset: Any, persistent: bool) -> None:
    options = {"batch_size": 5, "num_workers": 2, "persistent_workers": persistent}
    loader = unstarve.DataLoader(dataset, collate_fn=by_numpy, **options)
    assert loader.explain().engine == "native", loader.explain()
    first, draws = epoch(loader)
    theirs, their_draws = epoch(data.DataLoader(dataset, collate_fn=by_numpy, **options))
    assert draws == their_draws
    assert [len(batch) for batch in first] == [len(batch) for batch in theirs]
    shares = [float(batch[-1]) for batch in first]
    assert len(set(shares)) == len(shares) == 5
    if not persistent:
        assert [float(batch[-1]) for batch in epoch(loader)[0]] == shares
    assert [float(batch[-1]) for batch in map(flat, loader)] != shares


def drawing(batch: Any) -> Any:
    _, labels = default_collate(batch)
    return torch.rand(1, dtype=torch.float64), random.random(), np.random.random(), labels


def test_with_workers_numbers_are_even(tmp_path: Path) -> None:
    """By Kolmogorov and Smirnov, and one batch's and the next's hang together in no way."""
    files = datasets.ImageFolder(make_folder(tmp_path, 200, 1), v1.Compose([v1.CenterCrop(1)]))
    files.transform.transforms.append(v1.ToTensor())
    loader = unstarve.DataLoader(files, batch_size=1, num_workers=1, collate_fn=drawing)
    assert loader.explain().engine == "native", loader.explain()
    torch.manual_seed(8)
    numbers = np.array([[float(part) for part in batch[:3]] for _ in range(20) for batch in loader])
    count = len(numbers)
    assert numbers.shape == (4000, 3)
    even = np.random.default_rng(1).random(100_000)
    for column in numbers.T:
        assert distance(column, even) < limit(count, len(even))
        # 2.58 deviations of what numbers without a connection have.
        assert abs(np.corrcoef(column[:-1], column[1:])[0, 1]) < 2.58 / np.sqrt(count)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_epoch_goes_on_where_it_was(dataset: Any, workers: int) -> None:
    def make() -> Any:
        return unstarve.DataLoader(
            dataset, batch_size=5, shuffle=True, num_workers=workers, collate_fn=mixed_in_turn
        )

    seed_all()
    loader = make()
    batches = iter(loader)
    for _ in range(2):
        next(batches)
    state, drawn = loader.state_dict(), torch.get_rng_state()
    rest = [flat(batch) for batch in batches]
    resumed = make()
    resumed.load_state_dict(state)
    torch.manual_seed(99)  # of no meaning to workers
    again = iter(resumed)
    if workers == 0:
        torch.set_rng_state(drawn)
    assert_same([flat(batch) for batch in again], rest)


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_of_pythons_are_collated_by_it_too(tmp_path: Path, workers: int) -> None:
    root = make_folder(tmp_path, 40)
    path = root / "class0" / "0004.png"
    Image.open(path).save(path.with_name("0004.ppm"))
    path.unlink()
    files = datasets.ImageFolder(root, TO_FLOAT, is_valid_file=lambda _: True)
    options = {"batch_size": 8, "num_workers": workers, "collate_fn": blended}
    loader = unstarve.DataLoader(files, **options)
    assert loader.explain().engine == "native", loader.explain()
    ours, _ = epoch(loader)
    assert loader.stats()["samples_by_python"] == 1
    assert_same(ours, epoch(data.DataLoader(files, **options))[0])


def raising(batch: Any) -> Any:
    images, _ = default_collate(batch)
    raise ValueError(f"{len(images)} images")


@pytest.mark.parametrize(
    ("workers", "said"),
    [(0, "5 images"), (2, "Caught ValueError in DataLoader worker process 0.")],
)
def test_its_exceptions_reach_the_loop_as_torchs(dataset: Any, workers: int, said: str) -> None:
    loader = unstarve.DataLoader(dataset, 5, num_workers=workers, collate_fn=raising)
    assert loader.explain().engine == "native"
    with pytest.raises(ValueError, match="5 images") as error:
        next(iter(loader))
    assert str(error.value).splitlines()[0] == said


def test_what_it_does_in_place_stays_in_its_batch(dataset: Any) -> None:
    loader = unstarve.DataLoader(dataset, batch_size=2, collate_fn=blended)
    for _ in range(2):
        assert_same(epoch(loader)[0], epoch(data.DataLoader(dataset, 2, collate_fn=blended))[0])


def test_default_collate_is_what_it_was(dataset: Any) -> None:
    list(unstarve.DataLoader(dataset, batch_size=5, collate_fn=either))
    assert default_collate([(1, "a"), (2, "b")]) == [
        pytest.approx(torch.tensor([1, 2])),
        ("a", "b"),
    ]
    assert unstarve.DataLoader(dataset, batch_size=5).explain().engine == "native"


@pytest.mark.parametrize("collate_fn", OTHERS)
def test_others_stay_in_python(dataset: Any, collate_fn: Any) -> None:
    assert not goes_on_from_default(collate_fn)
    explained = unstarve.DataLoader(dataset, batch_size=5, collate_fn=collate_fn).explain()
    assert explained.engine == "partly"
    assert "a collate_fn of your own" in explained.reason


def test_what_else_a_worker_would_do_is_not_left_out(dataset: Any) -> None:
    """A worker's start may seed what the function draws from; and a single sample is no batch."""
    started = unstarve.DataLoader(
        dataset, 5, num_workers=1, collate_fn=either, worker_init_fn=lambda _: None
    )
    assert "worker_init_fn" in started.explain().reason
    single = unstarve.DataLoader(dataset, batch_size=None, collate_fn=either)
    assert single.explain().engine == "partly"


def test_exchanged_functions_are_seen(dataset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = unstarve.DataLoader(dataset, batch_size=5, collate_fn=either)
    assert loader.explain().engine == "native"
    monkeypatch.setattr(v2.MixUp, "make_params", lambda *_: {"lam": 1.0})
    assert unstarve.DataLoader(dataset, 5, collate_fn=either).explain().engine == "partly"
    monkeypatch.undo()
    monkeypatch.setattr("collate_functions.default_collate", lambda batch: batch)
    other = unstarve.DataLoader(dataset, 5, collate_fn=mixed_in_turn)
    assert other.explain().engine == "partly"
