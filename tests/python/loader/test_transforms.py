"""Every transform of the engine against torchvision's, with the same draws on the same pixels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import v2 as transforms
from torchvision.transforms.v2 import functional
from unstarve import _native

Kind = _native.GeometryPlan.Kind
Type = _native.OutputPlan.Type
Layout = _native.OutputPlan.Layout
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIZES = [(97, 131), (64, 64), (300, 40), (33, 350), (500, 375), (20, 20), (224, 224), (1, 7)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images with smooth parts, edges, saturated colours and greys; many shapes."""
    root = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(11)
    for number, (width, height) in enumerate(SIZES):
        coarse = random.integers(0, 256, (height // 9 + 2, width // 9 + 2, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        pixels = np.asarray(picture).copy()
        pixels[height // 3 : height // 2, : width // 2] = [255, 0, 128]
        pixels[height // 2 :, width // 2 :] = pixels[height // 2 :, width // 2 :, :1]
        Image.fromarray(pixels).save(root / f"{number:03}.jpg", quality=95)
    return root


def pixels_of(path: Path) -> Any:
    return functional.pil_to_tensor(Image.open(path).convert("RGB"))


def options_of(folder: Path, plan: Any) -> Any:
    options = _native.LoaderOptions()
    options.root = str(folder)
    options.shuffle = False
    options.batch_size = len(SIZES)
    options.seed = 4
    options.transform = plan
    return options


def plan_of(kind: Any, width: int, height: int, short: int | tuple[int, int] = 1) -> Any:
    plan = _native.TransformPlan()
    plan.geometry.kind = kind
    plan.geometry.width, plan.geometry.height = width, height
    if isinstance(short, tuple):
        plan.geometry.resize_to = short
    else:
        plan.geometry.resize_short = short
    return plan


def run(folder: Path, plan: Any, epoch: int) -> tuple[Any, list[dict[str, Any]]]:
    """The batch as N x 3 x H x W, and what was drawn for each image."""
    options = options_of(folder, plan)
    loader = _native.Loader(options)
    loader.begin_epoch(epoch)
    batch = loader.next()
    assert batch is not None
    images = torch.from_dlpack(batch[0])
    if plan.output.layout == Layout.nhwc:
        images = images.permute(0, 3, 1, 2)
    draws = [_native.sample_draws(options, epoch, i, size) for i, size in enumerate(SIZES)]
    return images, draws


def resized_to(geometry: Any) -> list[int]:
    exact = list(geometry.resize_to)
    return exact if exact[0] else [geometry.resize_short]


def resized(pixels: Any, plan: Any, draw: dict[str, Any]) -> Any:
    """The geometry by torchvision."""
    geometry = plan.geometry
    size = [geometry.height, geometry.width]
    mode = functional.InterpolationMode(geometry.interpolation.name)
    x, y, width, height = draw["crop"]
    if geometry.kind == Kind.random_resized_crop:
        pixels = functional.resized_crop(pixels, y, x, height, width, size, mode, antialias=True)
    elif geometry.kind == Kind.resize:
        pixels = functional.resize(pixels, size, mode, antialias=True)
    elif geometry.kind == Kind.resize_center_crop:
        pixels = functional.resize(pixels, resized_to(geometry), mode, antialias=True)
        pixels = functional.center_crop(pixels, size)
    elif geometry.kind == Kind.resize_random_crop:
        pixels = functional.resize(pixels, resized_to(geometry), mode, antialias=True)
        x, y, _, _ = draw["window"]
        assert 0 <= x <= pixels.shape[2] - size[1] and 0 <= y <= pixels.shape[1] - size[0]
        pixels = functional.crop(pixels, y, x, *size)
    else:
        pixels = functional.center_crop(pixels, size)
    if draw["flip"]:
        pixels = functional.horizontal_flip(pixels)
    return functional.vertical_flip(pixels) if draw["vertical_flip"] else pixels


def coloured(pixels: Any, changes: list[tuple[str, float]]) -> Any:
    for name, factor in changes:
        if name == "greyscale":
            pixels = functional.rgb_to_grayscale(pixels, num_output_channels=3)
        else:
            pixels = getattr(functional, f"adjust_{name}")(pixels, factor)
    return pixels


def check(folder: Path, plan: Any, finish: Callable[[Any, dict[str, Any]], Any], most: int) -> int:
    """Compares every image of two epochs; returns how many values differ."""
    differing = 0
    for epoch in range(2):
        images, draws = run(folder, plan, epoch)
        for index, draw in enumerate(draws):
            pixels = resized(pixels_of(folder / f"{index:03}.jpg"), plan, draw)
            apart = (images[index].double() - finish(pixels, draw).double()).abs()
            assert apart.max() <= most, (SIZES[index], draw)
            differing += int((apart > 0).sum())
    return differing


GEOMETRIES = [
    (Kind.random_resized_crop, 64, 48, 1),
    (Kind.resize, 64, 48, 1),
    (Kind.resize, 300, 90, 1),
    (Kind.resize_center_crop, 56, 48, 64),
    (Kind.resize_center_crop, 80, 72, 64),  # larger than what the resize leaves
    (Kind.resize_center_crop, 80, 50, (70, 64)),  # as large, (height, width) for Resize
    (Kind.resize_random_crop, 56, 48, 64),
    (Kind.resize_random_crop, 64, 33, (40, 64)),
    (Kind.center_crop, 64, 64, 1),  # larger than some images
]
INTERPOLATIONS = [_native.Interpolation.bilinear, _native.Interpolation.bicubic]


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_geometry(folder: Path, geometry: Any, interpolation: Any) -> None:
    plan = plan_of(*geometry)
    plan.geometry.interpolation = interpolation
    plan.geometry.horizontal_flip_probability = 0.5
    plan.geometry.vertical_flip_probability = 0.5
    differing = check(folder, plan, lambda pixels, _: pixels, 1)
    assert differing == 0 or interpolation == _native.Interpolation.bilinear
    assert differing == 0 or geometry[0] != Kind.center_crop


def jitter(**bounds: tuple[float, float]) -> Any:
    step = _native.ColourStep()
    for name, pair in bounds.items():
        setattr(step, name, pair)
    return step


@pytest.mark.parametrize(
    "bounds",
    [
        {"brightness": (0.2, 1.8)},
        {"contrast": (0.2, 1.8)},
        {"saturation": (0.0, 2.5)},
        {"hue": (-0.5, 0.5)},
    ],
)
def test_each_jitter_is_torchvisions(folder: Path, bounds: Any) -> None:
    plan = plan_of(Kind.center_crop, 61, 53)  # no resize: the pixels that go in are the same
    plan.colour = [jitter(**bounds)]
    differing = check(folder, plan, lambda pixels, draw: coloured(pixels, draw["colour"]), 1)
    # torch adds the mean of the contrast up in another order; its kernels may multiply and add in
    # one rounding or in two.
    assert differing <= 2 * len(SIZES) * 3 * 61 * 53 // 100


def test_jitter_and_grey_follow_each_other_as_drawn(folder: Path) -> None:
    plan = plan_of(Kind.center_crop, 61, 53)
    grey = _native.ColourStep()
    grey.kind, grey.probability = _native.ColourStep.Kind.greyscale, 0.3
    everything = {"brightness": (0.6, 1.4), "contrast": (0.6, 1.4), "saturation": (0.6, 1.4)}
    plan.colour = [jitter(hue=(-0.1, 0.1), **everything), grey]
    orders, greys = set(), 0
    for epoch in range(6):
        images, draws = run(folder, plan, epoch)
        for index, draw in enumerate(draws):
            names = [name for name, _ in draw["colour"]]
            orders.add(tuple(names[:4]))
            greys += names[-1] == "greyscale"
            pixels = resized(pixels_of(folder / f"{index:03}.jpg"), plan, draw)
            apart = (images[index].int() - coloured(pixels, draw["colour"]).int()).abs()
            # A later step stretches what an earlier one rounded otherwise.
            assert apart.float().mean() < 0.02
    assert len(orders) > 10 and 4 < greys < 30


@pytest.mark.parametrize("layout", [Layout.nhwc, Layout.nchw])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("scaling", ["none", "ToTensor", "ToDtype"])
def test_conversion_is_torchs_to_the_bit(
    folder: Path, layout: Any, dtype: str, scaling: str
) -> None:
    plan = plan_of(Kind.center_crop, 61, 53)
    plan.output.type = getattr(Type, dtype)
    plan.output.layout = layout
    plan.output.scale_to_unit = scaling != "none"
    plan.output.scale_by_reciprocal = scaling == "ToDtype"
    plan.output.mean, plan.output.deviation = MEAN, DEVIATION

    def finish(pixels: Any, _: Any) -> Any:
        if scaling == "ToTensor":
            pixels = pixels.to(torch.float32).div(255)
        else:
            pixels = functional.to_dtype(pixels, torch.float32, scale=scaling == "ToDtype")
        return functional.normalize(pixels, MEAN, DEVIATION).to(getattr(torch, dtype))

    assert check(folder, plan, finish, 0) == 0


@pytest.mark.parametrize("layout", [Layout.nhwc, Layout.nchw])
def test_bytes_in_either_layout(folder: Path, layout: Any) -> None:
    plan = plan_of(Kind.center_crop, 61, 53)
    plan.output.layout = layout
    assert check(folder, plan, lambda pixels, _: pixels, 0) == 0


@pytest.mark.parametrize("dtype", ["uint8", "float32", "bfloat16"])
@pytest.mark.parametrize("layout", [Layout.nhwc, Layout.nchw])
def test_erasing(folder: Path, layout: Any, dtype: str) -> None:
    plan = plan_of(Kind.center_crop, 61, 53)
    plan.output.type, plan.output.layout = getattr(Type, dtype), layout
    plan.erasing = _native.ErasingPlan()
    erasing = plan.erasing
    erasing.probability, erasing.value = 0.7, (1.75, 200.0, 0.0)
    plan.erasing = erasing
    erased = 0

    def finish(pixels: Any, draw: dict[str, Any]) -> Any:
        nonlocal erased
        pixels = pixels.to(getattr(torch, dtype))
        if draw["erased"] is None:
            return pixels
        erased += 1
        x, y, width, height = draw["erased"]
        value = torch.tensor(erasing.value)[:, None, None]
        return functional.erase(pixels, y, x, height, width, value)

    assert check(folder, plan, finish, 0) == 0
    assert 4 < erased < 16


def test_noise_is_normal(folder: Path) -> None:
    plan = plan_of(Kind.resize, 200, 200)
    plan.output.type = Type.float32
    erasing = _native.ErasingPlan()
    erasing.probability, erasing.noise = 1.0, True
    plan.erasing = erasing
    images, draws = run(folder, plan, 0)
    again, _ = run(folder, plan, 0)
    assert torch.equal(images, again)
    values = []
    for image, draw in zip(images, draws, strict=True):
        x, y, width, height = draw["erased"]
        values.append(image[:, y : y + height, x : x + width].flatten())
    noise = torch.cat(values)
    assert abs(float(noise.mean())) < 0.05 and abs(float(noise.std()) - 1) < 0.05
    assert float(noise.abs().max()) < 6


def test_draws_are_spread_as_torchvisions(folder: Path) -> None:
    """Sizes of erased boxes and crops against many draws of torchvision's own classes."""
    plan = plan_of(Kind.random_resized_crop, 64, 64)
    plan.erasing = _native.ErasingPlan()
    options = options_of(folder, plan)
    draws = [_native.sample_draws(options, 0, index, (400, 300)) for index in range(4000)]
    crop, erase = transforms.RandomResizedCrop(64), transforms.RandomErasing()
    image = torch.zeros(3, 300, 400, dtype=torch.uint8)
    theirs = [crop.make_params([image]) for _ in range(2000)]
    ours = [draw["crop"] for draw in draws]
    for position, name in enumerate(["left", "top", "width", "height"]):
        expected = np.mean([params[name] for params in theirs])
        assert abs(np.mean([box[position] for box in ours]) - expected) < 12, name
    small = torch.zeros(3, 64, 64, dtype=torch.uint8)
    theirs = [erase.make_params([small]) for _ in range(2000)]
    boxes = [draw["erased"] for draw in draws if draw["erased"] is not None]
    assert 0.46 < len(boxes) / len(draws) < 0.54
    for position, name in enumerate(["j", "i", "w", "h"]):
        expected = np.mean([params[name] for params in theirs])
        assert abs(np.mean([box[position] for box in boxes]) - expected) < 2.5, name
