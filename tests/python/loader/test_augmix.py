"""AugMix: the engine's weights, chains and pixels against torchvision's."""

from __future__ import annotations

import math
from collections import Counter
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
from torchvision.transforms import autoaugment, v2
from torchvision.transforms.v2 import functional
from unstarve import _native
from unstarve.engine.native_plan import native_plan
from unstarve.lowering.composition import read_transform

HEIGHT, WIDTH = 48, 66
COUNT = 20_000
NEAREST = v1.InterpolationMode.NEAREST


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen lossless pictures with smooth parts, edges and greys, as large as they are taken."""
    root = tmp_path_factory.mktemp("images")
    (root / "class0").mkdir()
    random = np.random.default_rng(5)
    for number in range(16):
        coarse = random.integers(0, 256, (9, 12, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
        pixels = np.array(picture)
        pixels[20:30, 10:50] = [255, 0, 128]
        pixels[35:, 40:] = pixels[35:, 40:, :1]
        Image.fromarray(pixels).save(root / "class0" / f"{number:02}.png")
    return root


def options_of(*parts: Any) -> Any:
    composition = v1.Compose([v1.CenterCrop((HEIGHT, WIDTH)), *parts])
    plan, verdicts = read_transform(composition)
    assert plan is not None, verdicts
    options = _native.LoaderOptions()
    options.transform = native_plan(plan)
    return options


def draws_of(options: Any, index: int) -> list[tuple[str, Any]]:
    drawn: list[tuple[str, Any]] = _native.sample_draws(options, 0, index, (WIDTH, HEIGHT))[
        "colour"
    ]
    return drawn


@pytest.mark.parametrize(("alpha", "width"), [(1.0, 3), (0.4, 2), (2.5, 4)])
def test_weights_are_distributed_as_torchs(alpha: float, width: int) -> None:
    options = options_of(v1.AugMix(mixture_width=width, alpha=alpha), v1.PILToTensor())
    ours = np.array(
        [
            [value for name, value in draws_of(options, index) if name.startswith("mix_")][:-1]
            for index in range(COUNT)
        ]
    )
    torch.manual_seed(5)
    own = torch._sample_dirichlet(torch.full((COUNT, 2), alpha))
    others = torch._sample_dirichlet(torch.full((COUNT, width), alpha)) * own[:, 1:]
    theirs = torch.cat([own[:, :1], others], 1).numpy()
    most = limit(COUNT, COUNT)
    assert ours.shape == theirs.shape == (COUNT, width + 1)
    np.testing.assert_allclose(ours.sum(1), 1)
    for column in range(width + 1):
        assert distance(ours[:, column], theirs[:, column]) < most, column
    for weights in ([1, -1], [1, 2]):
        sums = [one[:, :2] @ np.array(weights) for one in (ours, theirs)]
        assert distance(*sums) < most


#: Of torchvision's names, those of the engine's draws whose number is 1 and the magnitude.
FACTORS = {"Brightness": "brightness", "Color": "saturation", "Contrast": "contrast"}


def operation_of(name: str, value: Any) -> tuple[str, float]:
    """Of a draw: torchvision's name and magnitude."""
    names = {"autocontrast": "AutoContrast"}
    if name in ("brightness", "saturation", "contrast", "sharpness"):
        found = {own: theirs for theirs, own in FACTORS.items()}.get(name, "Sharpness")
        return found, value - 1
    if name != "perspective":
        return names.get(name, name.capitalize()), value
    a, b, c, d, e, f, g, h = value
    assert g == h == 0 and a == e
    if b and d:
        return "Rotate", math.degrees(math.atan2(d, a))
    moves = {"ShearX": b, "ShearY": d, "TranslateX": -c, "TranslateY": -f}
    return next(((kind, m) for kind, m in moves.items() if m), ("Still", 0.0))


def word(name: str, magnitude: float) -> str:
    """Moves of nothing look alike."""
    moves = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate")
    if (name in moves and int(magnitude * 1000) == 0) or name == "Still":
        return "Still"
    if name.startswith("Translate"):
        magnitude = int(magnitude)
    return f"{name} {magnitude + 0.0:.3f}".replace("-0.000", "0.000")


def chains_of(options: Any, index: int) -> list[list[tuple[str, float]]]:
    chains: list[list[tuple[str, float]]] = [[]]
    for name, value in draws_of(options, index):
        if name == "mix_add":
            chains.append([])
        elif not name.startswith("mix_"):
            chains[-1].append(operation_of(name, value))
    return chains[:-1]


def torchvisions_calls(transform: Any, count: int, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What each image's chains were asked to do, one after the other."""
    asked: list[tuple[str, float]] = []

    def note(image: Any, name: str, magnitude: float, **_: Any) -> Any:
        # In v2 a share of the largest value.
        scale = 255 if name == "Solarize" and type(transform) is v2.AugMix else 1
        asked.append((name, magnitude * scale))
        return image

    if type(transform) is v1.AugMix:
        monkeypatch.setattr(autoaugment, "_apply_op", note)
    else:
        monkeypatch.setattr(transform, "_apply_image_or_video_transform", note, raising=False)
    picture = torch.zeros(3, HEIGHT, WIDTH, dtype=torch.uint8)
    found = []
    for _ in range(count):
        asked.clear()
        transform(picture)
        found.append(list(asked))
    return found


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize(
    "arguments",
    [{}, {"severity": 10, "all_ops": False, "mixture_width": 1}, {"severity": 1, "chain_depth": 2}],
)
def test_chains_are_drawn_as_torchvisions(
    library: Any, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two samples of one distribution, by a chi-squared test: of operations, and of how many an
    image has."""
    count = COUNT // 4
    transform = library.AugMix(**arguments)
    options = options_of(transform, v1.PILToTensor())
    images = [[op for chain in chains_of(options, i) for op in chain] for i in range(count)]
    torch.manual_seed(3)
    calls = torchvisions_calls(transform, count, monkeypatch)
    for counts in (
        [Counter(word(*op) for image in each for op in image) for each in (images, calls)],
        [Counter(str(len(image)) for image in each) for each in (images, calls)],
    ):
        ours, theirs = counts
        often = {one for one in {*ours, *theirs} if ours[one] + theirs[one] >= 20}
        squares = sum((ours[one] - theirs[one]) ** 2 / (ours[one] + theirs[one]) for one in often)
        free = max(len(often) - 1, 1)
        # Of so many degrees of freedom, p = 0.01.
        assert squares < free * (1 - 2 / (9 * free) + 2.33 * math.sqrt(2 / (9 * free))) ** 3
    own, names = ({name for image in each for name, _ in image} for each in (images, calls))
    assert own - {"Still"} <= names


def test_depths_are_even() -> None:
    options = options_of(v1.AugMix(), v1.PILToTensor())
    depths = Counter(len(chain) for i in range(COUNT // 3) for chain in chains_of(options, i))
    total = sum(depths.values())
    assert set(depths) == {1, 2, 3}
    assert sum((n - total / 3) ** 2 / (total / 3) for n in depths.values()) < 9.21


def mixed_by_torchvision(image: Any, draws: list[tuple[str, Any]], mode: Any, fill: Any) -> Any:
    mix, copy = torch.zeros(image.shape), image
    for name, value in draws:
        if name in ("mix_begin", "mix_add"):
            mix += value * copy
            copy = image
        elif name != "mix_end":
            kind, magnitude = operation_of(name, value)
            if kind == "Solarize":
                copy = functional.solarize(copy, magnitude)
            elif kind != "Still":
                copy = autoaugment._apply_op(copy, kind, magnitude, mode, fill)
    return mix.to(torch.uint8)


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("is_tensor", [False, True])
@pytest.mark.parametrize(
    ("fill", "mode"),
    [(None, v1.InterpolationMode.BILINEAR), ([9, 80, 200], v1.InterpolationMode.BILINEAR)],
)
def test_pixels_are_torchvisions(
    folder: Path, library: Any, is_tensor: bool, fill: Any, mode: Any
) -> None:
    part = library.AugMix(severity=7, interpolation=mode, fill=fill)
    options = options_of(*([v2.ToImage(), part] if is_tensor else [part, v1.PILToTensor()]))
    options.root, options.shuffle, options.batch_size = str(folder), False, 16
    loader = _native.Loader(options)
    loader.begin_epoch(0)
    batch = loader.next()
    assert batch is not None
    ours = torch.from_dlpack(batch[0])
    far = 0
    floats = None if fill is None else [float(value) for value in fill]
    for index, path in enumerate(sorted((folder / "class0").iterdir())):
        image = functional.pil_to_tensor(Image.open(path))
        theirs = mixed_by_torchvision(image, draws_of(options, index), mode, floats)
        apart = (ours[index].int() - theirs.int()).abs()
        far += int((apart > 2).sum())
    # Equalizing and the like make more of a difference of one that was there before.
    assert far < 1e-3 * ours.numel()


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("is_tensor", [False, True])
def test_it_runs_natively_beside_others(folder: Path, library: Any, is_tensor: bool) -> None:
    parts = [library.RandomResizedCrop(32, antialias=True), library.AugMix(interpolation=NEAREST)]
    if is_tensor:
        parts.insert(0, v2.ToImage())
        parts.append(v2.ToDtype(torch.float32, scale=True))
    else:
        parts += [library.RandomApply([library.AugMix(fill=3)], p=0.3), v1.ToTensor()]
    dataset = datasets.ImageFolder(folder, library.Compose(parts))
    loader = unstarve.DataLoader(dataset, batch_size=16)
    assert loader.explain().engine == "native", loader.explain()
    torch.manual_seed(1)
    first, second = (next(iter(loader))[0].clone() for _ in range(2))
    assert first.shape == (16, 3, 32, 32) and not torch.equal(first, second)
    torch.manual_seed(1)
    assert torch.equal(first, next(iter(loader))[0])


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([v1.AugMix(interpolation=v1.InterpolationMode.BICUBIC)], "bicubic"),
        ([v1.AugMix(alpha=0.001)], "alpha"),
        ([v1.AugMix(mixture_width=65)], "mixture_width"),
        ([v2.AugMix(fill={torch.Tensor: 1, "others": 0})], "fill"),
        ([v1.AugMix(), v1.RandomHorizontalFlip()], "may move pixels"),
    ],
)
def test_what_stays_python_says_why(parts: list[Any], why: str) -> None:
    plan, verdicts = read_transform(v1.Compose([v1.Resize((8, 8)), *parts, v1.ToTensor()]))
    assert plan is None
    assert any(why in str(verdict.obstacle) for verdict in verdicts)
