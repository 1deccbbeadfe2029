"""RandomPerspective: the engine's corners and pixels against torchvision's and Pillow's."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from distributions import distance, limit
from PIL import Image
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import functional as v1_functional
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional
from unstarve import _native
from unstarve.engine.native_plan import native_plan
from unstarve.lowering.composition import read_transform

HEIGHT, WIDTH = 48, 65
BILINEAR, NEAREST = v1.InterpolationMode.BILINEAR, v1.InterpolationMode.NEAREST


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve lossless pictures with smooth parts and edges, as large as they are taken."""
    root = tmp_path_factory.mktemp("images") / "class0"
    root.mkdir()
    random = np.random.default_rng(5)
    for number in range(12):
        coarse = random.integers(0, 256, (9, 12, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
        pixels = np.array(picture)
        pixels[20:30, 10:50] = [255, 0, 128]
        Image.fromarray(pixels).save(root / f"{number:02}.png")
    return root.parent


def options_of(*parts: Any, library: Any = v1) -> Any:
    composition = library.Compose([v1.CenterCrop((HEIGHT, WIDTH)), *parts])
    plan, verdicts = read_transform(composition)
    assert plan is not None, verdicts
    options = _native.LoaderOptions()
    options.transform = native_plan(plan)
    return options


def drawn(options: Any, index: int) -> list[Any]:
    return [
        value for _, value in _native.sample_draws(options, 0, index, (WIDTH, HEIGHT))["colour"]
    ]


STARTS = [[0, 0], [WIDTH - 1, 0], [WIDTH - 1, HEIGHT - 1], [0, HEIGHT - 1]]


def corners_of(coefficients: Any) -> list[list[float]]:
    """Where the image's corners come to lie: the map's inverse there."""
    a, b, c, d, e, f, g, h = coefficients
    back = np.linalg.inv(np.array([[a, b, c], [d, e, f], [g, h, 1.0]]))
    found = [back @ np.array([x, y, 1.0]) for x, y in STARTS]
    return [[float(x / w), float(y / w)] for x, y, w in found]


@pytest.mark.parametrize("library", [v1, v2])
def test_corners_are_drawn_as_torchvisions(library: Any) -> None:
    """Each of their eight numbers, and sums of two, which say how they hang together."""
    count = 20_000
    part = library.RandomPerspective(0.6, p=0.7)
    options = options_of(part, library.PILToTensor())
    draws = [drawn(options, index) for index in range(count)]
    some = [value[0] for value in draws if value]
    assert abs(len(some) - 0.7 * count) < 4 * math.sqrt(0.21 * count)
    ours = np.array([corners_of(value) for value in some]).reshape(-1, 8)
    assert np.abs(ours - ours.round()).max() < 0.01
    torch.manual_seed(5)
    theirs = np.array(
        [v1.RandomPerspective.get_params(WIDTH, HEIGHT, 0.6)[1] for _ in range(count)]
    ).reshape(-1, 8)
    most = limit(len(some), count)
    for column in range(8):
        own, other = ours.round()[:, column], theirs[:, column]
        assert distance(own, other) < most, column
        assert set(own) == set(other)
    sums = [one @ np.array([1, -2, 3, -4, 5, -6, 7, -8]) for one in (ours.round(), theirs)]
    assert distance(*sums) < most


def test_numbers_are_those_of_torchvision() -> None:
    options = options_of(v1.RandomPerspective(1.0, p=1), v1.PILToTensor())
    for index in range(200):
        [coefficients] = drawn(options, index)
        corners = [[round(x), round(y)] for x, y in corners_of(coefficients)]
        expected = v1_functional._get_perspective_coeffs(STARTS, corners)
        np.testing.assert_allclose(coefficients, expected, rtol=1e-4, atol=1e-6)


def own_pixels(folder: Path, options: Any) -> Any:
    options.root, options.shuffle, options.batch_size = str(folder), False, 12
    loader = _native.Loader(options)
    loader.begin_epoch(0)
    batch = loader.next()
    assert batch is not None
    return torch.from_dlpack(batch[0]).clone()


def pictures(folder: Path) -> list[Any]:
    return [Image.open(path) for path in sorted((folder / "class0").iterdir())]


@pytest.mark.parametrize("mode", [BILINEAR, NEAREST])
@pytest.mark.parametrize("fill", [0, 200, [9, 80, 200]])
@pytest.mark.parametrize("library", [v1, v2])
def test_pixels_of_pil_images_are_pillows(folder: Path, library: Any, fill: Any, mode: Any) -> None:
    part = library.RandomPerspective(0.7, p=1.0, interpolation=mode, fill=fill)
    options = options_of(part, library.PILToTensor())
    ours = own_pixels(folder, options)
    for index, picture in enumerate(pictures(folder)):
        [coefficients] = drawn(options, index)
        moved = functional.perspective(
            picture, None, None, mode, fill, coefficients=list(coefficients)
        )
        expected = torch.from_numpy(np.array(moved)).permute(2, 0, 1)
        apart = (ours[index].int() - expected.int()).abs()
        assert int(apart.max()) <= (mode is BILINEAR), index


@pytest.mark.parametrize("mode", [BILINEAR, NEAREST])
@pytest.mark.parametrize("fill", [0, 200, [9, 80, 200]])
@pytest.mark.parametrize("library", [v1, v2])
def test_pixels_of_tensors_are_torchvisions(
    folder: Path, library: Any, fill: Any, mode: Any
) -> None:
    part = library.RandomPerspective(0.7, p=1.0, interpolation=mode, fill=fill)
    options = options_of(v2.ToImage(), part)
    ours = own_pixels(folder, options)
    as_floats = [float(value) for value in (fill if isinstance(fill, list) else [fill] * 3)]
    off = 0
    for index, picture in enumerate(pictures(folder)):
        [coefficients] = drawn(options, index)
        expected = functional.perspective(
            functional.pil_to_tensor(picture),
            None,
            None,
            mode,
            as_floats,
            coefficients=list(coefficients),
        )
        apart = (ours[index].int() - expected.int()).abs()
        off += int((apart > (mode is BILINEAR)).sum())
    # Where a place lies between two pixels but for float32's last bits, either is the nearest.
    assert off <= (0 if mode is BILINEAR else ours.numel() / 1000)


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("is_tensor", [False, True])
def test_it_runs_natively_beside_others(folder: Path, library: Any, is_tensor: bool) -> None:
    parts = [library.RandomResizedCrop(32, antialias=True), library.RandomPerspective(0.4, fill=7)]
    if is_tensor:
        parts.insert(0, v2.ToImage())
        parts.append(v2.ToDtype(torch.float32, scale=True))
    else:
        parts += [library.RandomApply([library.RandomPerspective()]), v1.ToTensor()]
    dataset = datasets.ImageFolder(folder, library.Compose(parts))
    loader = unstarve.DataLoader(dataset, batch_size=12)
    assert loader.explain().engine == "native", loader.explain()
    torch.manual_seed(1)
    first, second = (next(iter(loader))[0].clone() for _ in range(2))
    assert first.shape == (12, 3, 32, 32) and not torch.equal(first, second)
    torch.manual_seed(1)
    assert torch.equal(first, next(iter(loader))[0])


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([v1.RandomPerspective(interpolation=v1.InterpolationMode.BICUBIC)], "bicubic"),
        ([v1.RandomPerspective(fill=[300, 0, 0])], "fill"),
        ([v1.RandomPerspective(-0.5)], "distortion_scale"),
        ([v2.RandomPerspective(fill={torch.Tensor: 1, "others": 0})], "fill"),
        ([v2.ToImage(), v2.RandomPerspective(fill=None)], "fill=None"),
        ([v1.RandomPerspective(), v1.RandomHorizontalFlip()], "may move pixels"),
    ],
)
def test_what_stays_python_says_why(parts: list[Any], why: str) -> None:
    plan, verdicts = read_transform(v1.Compose([v1.Resize((8, 8)), *parts, v1.ToTensor()]))
    assert plan is None
    assert any(why in str(verdict.obstacle) for verdict in verdicts)
