"""v2's JPEG: the engine's qualities and pixels against torchvision's and Pillow's."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from PIL import Image
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional
from unstarve import _native
from unstarve.engine.native_plan import native_plan
from unstarve.lowering.composition import read_transform

COUNT = 20_000

pytestmark = [
    pytest.mark.skipif(not hasattr(v2, "JPEG"), reason="torchvision has it from 0.17 on"),
    pytest.mark.filterwarnings("ignore:The image decoding and encoding capabilities"),
]


def make_folder(root: Path, width: int, height: int) -> Path:
    """Twelve lossless pictures: noise, smooth parts, edges and greys."""
    (root / "class0").mkdir(parents=True)
    random = np.random.default_rng(5)
    for number in range(12):
        coarse = random.integers(0, 256, (9, 12, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        pixels = np.array(picture)
        pixels[height // 3 : height // 2, 3:] = [255, 0, 128]
        if number % 3 == 1:
            pixels[:] = pixels[:, :, :1]
        if number % 3 == 2:
            pixels[:] = random.integers(0, 256, pixels.shape)
        Image.fromarray(pixels).save(root / "class0" / f"{number:02}.png")
    return root


def options_of(size: tuple[int, int], *parts: Any) -> Any:
    """`size`: height and width."""
    plan, verdicts = read_transform(v1.Compose([v1.CenterCrop(size), *parts]))
    assert plan is not None, verdicts
    options = _native.LoaderOptions()
    options.transform = native_plan(plan)
    return options


def qualities(options: Any, index: int, size: tuple[int, int]) -> list[int]:
    draws = _native.sample_draws(options, 0, index, size[::-1])["colour"]
    assert all(name == "jpeg" for name, _ in draws)
    return [value for _, value in draws]


def test_qualities_are_drawn_evenly_with_both_ends() -> None:
    size = (48, 65)
    options = options_of(size, v2.RandomApply([v2.JPEG((40, 89))], p=0.6), v2.PILToTensor())
    drawn = [qualities(options, index, size) for index in range(COUNT)]
    some = [value for each in drawn for value in each]
    assert abs(len(some) - 0.6 * COUNT) < 4 * math.sqrt(0.24 * COUNT)
    counts = Counter(some)
    assert set(counts) == set(range(40, 90))
    expected = len(some) / 50
    # A chi-squared number of 49 degrees of freedom is larger in one of a hundred.
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < 74.92


@pytest.mark.parametrize(("height", "width"), [(48, 65), (33, 7), (1, 1), (64, 64)])
@pytest.mark.parametrize("quality", [(1, 100), 1, 75, 100])
@pytest.mark.parametrize("is_tensor", [False, True])
def test_pixels_are_torchvisions(
    tmp_path: Path, height: int, width: int, quality: Any, is_tensor: bool
) -> None:
    make_folder(tmp_path, width, height)
    part = v2.JPEG(quality)
    parts = [v2.ToImage(), part] if is_tensor else [part, v2.PILToTensor()]
    options = options_of((height, width), *parts)
    options.root, options.shuffle, options.batch_size = str(tmp_path), False, 12
    loader = _native.Loader(options)
    loader.begin_epoch(0)
    batch = loader.next()
    assert batch is not None
    ours = torch.from_dlpack(batch[0])
    for index, path in enumerate(sorted((tmp_path / "class0").iterdir())):
        picture: Any = Image.open(path)
        if is_tensor:
            picture = functional.pil_to_tensor(picture)
        [drawn] = qualities(options, index, (height, width))
        theirs = functional.jpeg(picture, drawn)
        if not is_tensor:
            theirs = functional.pil_to_tensor(theirs)
        apart = (ours[index].int() - theirs.int()).abs()
        assert int(apart.max()) == 0, (index, drawn)


@pytest.mark.parametrize("is_tensor", [False, True])
def test_it_runs_natively_beside_others(tmp_path: Path, is_tensor: bool) -> None:
    parts = [v2.RandomResizedCrop(33, antialias=True), v2.ColorJitter(0.3), v2.JPEG((5, 30))]
    if is_tensor:
        parts.insert(0, v2.ToImage())
        parts.append(v2.ToDtype(torch.float32, scale=True))
    else:
        inner = v2.Compose([v2.RandomApply([v2.JPEG(20)], p=0.3), v2.RandomPerspective()])
        parts += [inner, v1.ToTensor()]
    dataset = datasets.ImageFolder(make_folder(tmp_path, 65, 48), v2.Compose(parts))
    loader = unstarve.DataLoader(dataset, batch_size=12)
    explained = loader.explain()
    assert explained.engine == "native", explained
    assert "JPEG(quality=(5, 30))" in str(explained)
    torch.manual_seed(1)
    first, second = (next(iter(loader))[0].clone() for _ in range(2))
    assert first.shape == (12, 3, 33, 33) and not torch.equal(first, second)
    torch.manual_seed(1)
    assert torch.equal(first, next(iter(loader))[0])


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ([v1.Resize((8, 8))], [v1.RandomHorizontalFlip()], "may move pixels"),
        ([v1.Resize((8, 8)), v1.ToTensor()], [], "floating-point"),
        ([], [v1.Resize((8, 8))], "before the image has its size"),
    ],
)
def test_what_stays_python_says_why(before: list[Any], after: list[Any], why: str) -> None:
    plan, verdicts = read_transform(v1.Compose([*before, v2.JPEG(50), *after]))
    assert plan is None
    assert any(why in str(verdict.obstacle) for verdict in verdicts)
