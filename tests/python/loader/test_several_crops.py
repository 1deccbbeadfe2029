"""FiveCrop and TenCrop: what stands before them is the engine's, they themselves are Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from PIL import Image
from torch.utils import data
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import v2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JPEGs of several sizes, larger than what is cut."""
    root = tmp_path_factory.mktemp("images")
    (root / "class0").mkdir()
    random = np.random.default_rng(5)
    for number in range(10):
        coarse = random.integers(0, 256, (9, 12, 3), dtype=np.uint8)
        size = (60 + 7 * number, 90 - 3 * number)
        picture = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
        picture.save(root / "class0" / f"{number}.jpg", quality=95)
    return root


def stacked(crops: Any) -> Any:
    return torch.stack([v1.ToTensor()(crop) for crop in crops])


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("name", ["FiveCrop", "TenCrop"])
@pytest.mark.parametrize(
    ("size", "workers", "engine"),
    [((50, 47), 0, "partly"), ((50, 47), 2, "partly"), (50, 2, "workers"), (50, 0, "torch")],
)
def test_they_get_the_engines_images(
    folder: Path, library: Any, name: str, size: Any, workers: int, engine: str
) -> None:
    crops = getattr(library, name)(33)
    parts = [library.Resize(size), crops, v1.Lambda(stacked)]
    dataset = datasets.ImageFolder(folder, library.Compose(parts))
    loader = unstarve.DataLoader(dataset, batch_size=4, num_workers=workers)
    explained = loader.explain()
    assert explained.engine == engine, explained
    assert name in explained.reason
    views = 5 if name == "FiveCrop" else 10
    for ours, theirs in zip(loader, data.DataLoader(dataset, batch_size=4), strict=True):
        assert ours[0].shape[1:] == (views, 3, 33, 33)
        assert float((ours[0] - theirs[0]).abs().max()) <= 1.01 / 255
        assert torch.equal(ours[1], theirs[1])
