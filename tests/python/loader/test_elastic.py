"""ElasticTransform: the engine's displacements and pixels against torchvision's."""

from __future__ import annotations

from collections.abc import Callable
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
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional
from unstarve import _native
from unstarve.engine.native_plan import native_plan
from unstarve.lowering.composition import read_transform

HEIGHT, WIDTH = 37, 50
BILINEAR, NEAREST = v1.InterpolationMode.BILINEAR, v1.InterpolationMode.NEAREST


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve lossless pictures with smooth parts, edges and greys, as large as they are taken."""
    root = tmp_path_factory.mktemp("images")
    (root / "class0").mkdir()
    random = np.random.default_rng(5)
    for number in range(12):
        coarse = random.integers(0, 256, (9, 12, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
        pixels = np.array(picture)
        pixels[10:20, 10:40] = [255, 0, 128]
        pixels[25:, 30:] = pixels[25:, 30:, :1]
        Image.fromarray(pixels).save(root / "class0" / f"{number:02}.png")
    return root


def options_of(*parts: Any) -> Any:
    plan, verdicts = read_transform(v1.Compose([v1.CenterCrop((HEIGHT, WIDTH)), *parts]))
    assert plan is not None, verdicts
    options = _native.LoaderOptions()
    options.transform = native_plan(plan)
    return options


def displacement_of(options: Any, index: int) -> Any:
    """As torchvision has it: 1 x height x width x 2, in halves of the sides."""
    [(name, planes)] = _native.sample_draws(options, 0, index, (WIDTH, HEIGHT))["colour"]
    assert name == "elastic"
    across, down = (np.frombuffer(one, np.float32).reshape(HEIGHT, WIDTH) for one in planes)
    made = np.stack([across * (2 / WIDTH), down * (2 / HEIGHT)], -1)
    return torch.from_numpy(made.astype(np.float32))[None]


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize(
    ("alpha", "sigma"), [([50.0, 50.0], [4.0, 4.0]), ([20.0, 90.0], [0.6, 2.5])]
)
def test_displacements_are_distributed_as_torchvisions(
    library: Any, alpha: Any, sigma: Any
) -> None:
    """At an edge and in the middle, of both planes, and of neighbours' differences and sums."""
    count = 2000
    options = options_of(library.ElasticTransform(alpha, sigma), v1.PILToTensor())
    torch.manual_seed(5)
    images = [
        [displacement_of(options, index) for index in range(count)],
        [v1.ElasticTransform.get_params(alpha, sigma, [HEIGHT, WIDTH]) for _ in range(count)],
    ]
    ours, theirs = (torch.cat(each).numpy() for each in images)
    assert ours.shape == theirs.shape
    looks: tuple[Callable[[Any], Any], ...] = (
        lambda fields: fields[:, 0, 0, 0],
        lambda fields: fields[:, 18, 25, 0],
        lambda fields: fields[:, 36, 20, 1],
        lambda fields: fields[:, 18, 25, 1] - fields[:, 20, 25, 1],
        lambda fields: fields[:, 18, 25, 0] + fields[:, 18, 27, 0],
        lambda fields: fields[:, 18, 25, 0] + fields[:, 18, 25, 1],
        lambda fields: np.abs(fields).max(axis=(1, 2, 3)),
        lambda fields: fields[..., 0].mean(axis=(1, 2)),
    )
    for number, look in enumerate(looks):
        assert distance(look(ours), look(theirs)) < limit(count, count), number


def test_numbers_that_are_not_blurred_are_even() -> None:
    options = options_of(v2.ElasticTransform(30.0, 0.0), v1.PILToTensor())
    ours = np.concatenate([displacement_of(options, index).numpy().ravel() for index in range(20)])
    torch.manual_seed(5)
    arguments = ([30.0] * 2, [0.0] * 2, [HEIGHT, WIDTH])
    field = [v1.ElasticTransform.get_params(*arguments) for _ in range(20)]
    theirs = torch.cat(field).numpy().ravel()
    assert distance(ours, theirs) < limit(len(ours), len(theirs))


@pytest.mark.parametrize("mode", [BILINEAR, NEAREST])
@pytest.mark.parametrize("fill", [0, 200, [9, 80, 200], None])
@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("is_tensor", [False, True])
def test_pixels_are_torchvisions(
    folder: Path, library: Any, fill: Any, mode: Any, is_tensor: bool
) -> None:
    if library is v1 and fill is None:
        with pytest.raises(TypeError):
            v1.ElasticTransform(fill=None)
        return
    part = library.ElasticTransform([90.0, 60.0], [2.0, 4.0], interpolation=mode, fill=fill)
    options = options_of(*([v2.ToImage(), part] if is_tensor else [part, v1.PILToTensor()]))
    options.root, options.shuffle, options.batch_size = str(folder), False, 12
    loader = _native.Loader(options)
    loader.begin_epoch(0)
    batch = loader.next()
    assert batch is not None
    ours = torch.from_dlpack(batch[0])
    floats = None if fill is None else [float(value) for value in np.ravel(fill)]
    off = 0
    for index, path in enumerate(sorted((folder / "class0").iterdir())):
        theirs = functional.elastic(
            functional.pil_to_tensor(Image.open(path)),
            displacement_of(options, index),
            mode,
            floats,
        )
        apart = (ours[index].int() - theirs.int()).abs()
        off += int((apart > (mode is BILINEAR)).sum())
    # Where a place lies between two pixels but for float32's last bits, either is the nearest.
    assert off <= (0 if mode is BILINEAR else ours.numel() / 1000)


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("is_tensor", [False, True])
def test_it_runs_natively_beside_others(folder: Path, library: Any, is_tensor: bool) -> None:
    parts = [library.RandomResizedCrop(33, antialias=True), library.ElasticTransform(sigma=2.0)]
    if is_tensor:
        parts.insert(0, v2.ToImage())
        parts.append(v2.ToDtype(torch.float32, scale=True))
    else:
        parts += [library.RandomApply([library.ElasticTransform(sigma=4.0)]), v1.ToTensor()]
    dataset = datasets.ImageFolder(folder, library.Compose(parts))
    loader = unstarve.DataLoader(dataset, batch_size=12)
    assert loader.explain().engine == "native", loader.explain()
    torch.manual_seed(1)
    first, second = (next(iter(loader))[0].clone() for _ in range(2))
    assert first.shape == (12, 3, 33, 33) and not torch.equal(first, second)
    torch.manual_seed(1)
    assert torch.equal(first, next(iter(loader))[0])


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([v1.ElasticTransform(interpolation=v1.InterpolationMode.BICUBIC, sigma=1.0)], "bicubic"),
        ([v1.ElasticTransform(sigma=2.0)], "sigma"),
        ([v1.ElasticTransform(sigma=[0.0, 0.5])], "sigma"),
        ([v2.ElasticTransform(sigma=0.5, fill={torch.Tensor: 1, "others": 0})], "fill"),
        ([v1.ElasticTransform(sigma=0.5), v1.RandomHorizontalFlip()], "may move pixels"),
        ([v1.ToTensor(), v1.ElasticTransform(sigma=0.5)], "floating-point"),
    ],
)
def test_what_stays_python_says_why(parts: list[Any], why: str) -> None:
    plan, verdicts = read_transform(v1.Compose([v1.Resize((8, 8)), *parts, v1.ToTensor()]))
    assert plan is None
    assert any(why in str(verdict.obstacle) for verdict in verdicts)
