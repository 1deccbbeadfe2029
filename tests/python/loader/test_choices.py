"""RandomChoice, and RandomApply of several: which changes of the pixels the engine draws."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import unstarve
from PIL import Image
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import v2
from unstarve import _native
from unstarve.engine.native_plan import native_plan
from unstarve.lowering.composition import read_transform

COUNT = 4_000
GREY, INVERT, BLUR = v1.Grayscale(3), v1.RandomInvert(1.0), v1.GaussianBlur(3)


def counts_of(part: Any) -> Counter[str]:
    """How often the engine draws which changes."""
    plan, verdicts = read_transform(v1.Compose([v1.CenterCrop(8), part, v1.ToTensor()]))
    assert plan is not None, verdicts
    options = _native.LoaderOptions()
    options.transform = native_plan(plan)
    return Counter(
        " ".join(name for name, _ in _native.sample_draws(options, 0, index, (8, 8))["colour"])
        for index in range(COUNT)
    )


def assert_shares(counts: Counter[str], shares: dict[str, float]) -> None:
    """By a chi-squared test of up to three degrees of freedom: p = 0.01."""
    assert set(counts) == set(shares)
    expected = {name: share * COUNT for name, share in shares.items()}
    assert sum((counts[name] - n) ** 2 / n for name, n in expected.items()) < 11.34


@pytest.mark.parametrize(
    ("part", "shares"),
    [
        (
            v1.RandomChoice([GREY, INVERT, BLUR]),
            {"greyscale": 1 / 3, "invert": 1 / 3, "blur": 1 / 3},
        ),
        (v1.RandomChoice([GREY, INVERT], p=[3, 1]), {"greyscale": 0.75, "invert": 0.25}),
        (v2.RandomChoice([GREY, INVERT], [1, 4]), {"greyscale": 0.2, "invert": 0.8}),
        (v2.RandomChoice([v2.Identity(), INVERT], [1, 0]), {"": 1.0}),
        (v1.RandomApply([GREY, INVERT], p=0.3), {"greyscale invert": 0.3, "": 0.7}),
        (
            v1.RandomApply([v1.RandomApply([GREY, BLUR], 0.5)], 0.5),
            {"greyscale blur": 0.25, "": 0.75},
        ),
        (
            v2.RandomChoice(
                [v2.Compose([INVERT, v2.RandomApply([BLUR, GREY], 0.5)]), v2.RandomChoice([BLUR])]
            ),
            {"invert": 0.25, "invert blur greyscale": 0.25, "blur": 0.5},
        ),
    ],
)
def test_what_is_drawn_has_torchvisions_shares(part: Any, shares: dict[str, float]) -> None:
    assert_shares(counts_of(part), shares)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("images")
    (root / "class0").mkdir()
    random = np.random.default_rng(5)
    for number in range(24):
        pixels = random.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / "class0" / f"{number:02}.png")
    return datasets.ImageFolder(root)


def test_pixels_are_those_of_one_choice(dataset: Any) -> None:
    """Each sample is what one of the transforms makes of it, and each of them is used."""
    ways = [v2.RandomInvert(1.0), v2.Compose([v2.Grayscale(3), v2.RandomInvert(1.0)])]
    dataset.transform = v1.Compose([v1.CenterCrop(8), v2.RandomChoice(ways), v1.PILToTensor()])
    loader = unstarve.DataLoader(dataset, batch_size=24)
    assert loader.explain().engine == "native", loader.explain()
    [[images, _]] = list(loader)
    used = set()
    for index, (path, _) in enumerate(dataset.samples):
        picture = Image.open(path)
        made = [v1.functional.pil_to_tensor(way(picture)) for way in ways]
        found = [int((images[index].int() - one.int()).abs().max()) <= 1 for one in made]
        assert sum(found) == 1
        used.add(found.index(True))
    assert used == {0, 1}


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([v1.RandomChoice([GREY, v1.RandomHorizontalFlip()])], "in RandomChoice"),
        ([v1.RandomApply([GREY, v1.ToTensor()])], "in RandomApply"),
        ([v1.RandomChoice([GREY, lambda image: image.rotate(3)])], "in RandomChoice"),
        ([v1.RandomChoice([GREY, INVERT], p=[1, 0, 0])], "3 weights"),
        ([v1.RandomChoice([GREY, INVERT]), v1.RandomHorizontalFlip()], "may move pixels"),
        ([v1.ToTensor(), v1.RandomChoice([GREY, BLUR])], "floating-point"),
    ],
)
def test_what_stays_python_says_why(parts: list[Any], why: str) -> None:
    plan, verdicts = read_transform(v1.Compose([v1.CenterCrop(8), *parts, v1.ToTensor()]))
    assert plan is None
    assert any(why in str(verdict.obstacle) for verdict in verdicts)


@pytest.mark.skipif(not hasattr(v2, "GaussianNoise"), reason="torchvision has it from 0.20 on")
@pytest.mark.parametrize("outer", [v1.RandomApply, v1.RandomChoice])
def test_noise_within_two_others_stays_python(outer: Any) -> None:
    """It is no change of the pixels that a choice could hold."""
    noise = outer([v1.RandomApply([v2.GaussianNoise()], 0.5)])
    plan, verdicts = read_transform(v1.Compose([v1.CenterCrop(8), v1.ToTensor(), noise]))
    assert plan is None
    assert any("within two others" in str(verdict.obstacle) for verdict in verdicts)


def test_a_flip_behind_changes_that_no_flip_changes_is_native() -> None:
    choice = v1.RandomChoice([GREY, v1.RandomApply([BLUR, v1.ColorJitter(0.3)])])
    parts = [v1.CenterCrop(8), choice, v1.RandomHorizontalFlip(), v1.ToTensor()]
    plan, verdicts = read_transform(v1.Compose(parts))
    assert plan is not None, verdicts


def test_many_within_each_other_stay_python() -> None:
    inner = v1.RandomApply([GREY])
    for _ in range(20):
        inner = v1.RandomApply([inner])
    plan, verdicts = read_transform(v1.Compose([v1.CenterCrop(8), inner, v1.ToTensor()]))
    assert plan is None
    assert any("within others" in str(verdict.obstacle) for verdict in verdicts)
