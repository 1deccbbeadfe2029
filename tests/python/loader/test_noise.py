"""GaussianNoise: distributed as torch's, at its place among the other steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import unstarve
from distributions import distance, limit
from PIL import Image
from torchvision import datasets
from torchvision.transforms import v2
from unstarve.lowering.composition import read_transform

SIDE = 64
TO_FLOAT = v2.ToDtype(torch.float32, scale=True)
BEGIN = [v2.ToImage(), v2.CenterCrop(SIDE), TO_FLOAT]
NORMALIZE = v2.Normalize([0.4, 0.5, 0.6], [0.25, 0.5, 0.2])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pictures of one grey."""
    root = tmp_path_factory.mktemp("images")
    (root / "class0").mkdir()
    for number in range(4):
        Image.new("RGB", (SIDE, SIDE), (102, 102, 102)).save(root / "class0" / f"{number}.png")
    return root


def images(folder: Path, *parts: Any, seed: int = 1) -> torch.Tensor:
    dataset = datasets.ImageFolder(str(folder), v2.Compose([*BEGIN, *parts]))
    loader = unstarve.DataLoader(dataset, batch_size=4)
    assert loader.explain().engine == "native", loader.explain()
    torch.manual_seed(seed)
    [(made, _)] = loader
    return made.clone()


@pytest.mark.parametrize(
    "arguments",
    [{}, {"mean": 0.3, "sigma": 0.4}, {"mean": -0.2, "sigma": 0.5, "clip": False}, {"sigma": 0.0}],
)
@pytest.mark.parametrize("before", [False, True])
def test_values_are_distributed_as_torchs(
    folder: Path, arguments: dict[str, Any], before: bool
) -> None:
    noise = v2.GaussianNoise(**arguments)
    parts = [noise, NORMALIZE] if before else [NORMALIZE, noise]
    ours = images(folder, *parts)
    torch.manual_seed(7)
    transform = v2.Compose([*BEGIN, *parts])
    picture = Image.new("RGB", (SIDE, SIDE), (102, 102, 102))
    theirs = torch.stack([transform(picture) for _ in range(4)])
    assert ours.numel() > 20_000
    for channel in range(3):
        own, other = ours[:, channel], theirs[:, channel]
        assert distance(own.numpy(), other.numpy()) < limit(own.numel(), other.numel())


def test_each_value_each_image_and_each_epoch_has_its_own(folder: Path) -> None:
    plain = v2.GaussianNoise(0.0, 1.0, clip=False)
    first = images(folder, plain)
    assert torch.equal(first, images(folder, plain))
    flat = torch.cat([first, images(folder, plain, seed=2)]).reshape(-1, SIDE * SIDE)
    # 24 planes; of planes that know nothing of each other, further from 0 in one of a million.
    correlations = torch.corrcoef(flat) - torch.eye(len(flat))
    assert float(correlations.abs().max()) < 5 / SIDE
    shifted = torch.corrcoef(torch.stack([flat[:, 1:].flatten(), flat[:, :-1].flatten()]))
    assert abs(float(shifted[0, 1])) < 5 / flat.numel() ** 0.5


def test_at_times_and_before_erasing(folder: Path) -> None:
    transform = [
        v2.RandomApply([v2.GaussianNoise(0.5, 0.0)], p=0.5),
        v2.RandomErasing(1.0, value=9),
    ]
    made = torch.cat([images(folder, *transform, seed=seed) for seed in range(20)])
    grey = made[made != 9]
    assert set((grey * 10).round().int().tolist()) == {4, 9}
    noisy = int(((made > 0.85) & (made < 0.95)).flatten(1).any(1).sum())
    assert 20 <= noisy <= 60 and bool((made == 9).flatten(1).any(1).all())


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([v2.CenterCrop(8), v2.GaussianNoise()], "other than float32"),
        ([v2.ToImage(), v2.CenterCrop(8), v2.GaussianNoise()], "other than float32"),
        ([*BEGIN, v2.GaussianNoise(), v2.GaussianNoise()], "second time"),
        ([*BEGIN, v2.RandomErasing(), v2.GaussianNoise()], "after RandomErasing"),
        ([*BEGIN, v2.GaussianNoise(sigma=-1)], "sigma=-1"),
        ([*BEGIN, v2.GaussianNoise(), v2.ToDtype(torch.float16)], "conversion to float16"),
        ([*BEGIN, v2.GaussianNoise(), v2.RandomHorizontalFlip()], "after GaussianNoise"),
        ([*BEGIN, v2.GaussianNoise(), v2.Pad(1)], "after GaussianNoise"),
    ],
)
def test_what_stays_python_says_why(parts: list[Any], why: str) -> None:
    plan, verdicts = read_transform(v2.Compose(parts))
    assert plan is None
    assert any(why in str(verdict.obstacle) for verdict in verdicts)
