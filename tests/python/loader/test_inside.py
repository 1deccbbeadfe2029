"""Callables of a script that only call others are looked into."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import unstarve
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.models import ResNet50_Weights
from torchvision.transforms import v2
from unstarve.lowering.composition import read_prefix, read_transform
from unstarve.lowering.inside import AsRgb, steps_within
from unstarve.lowering.plan import Plan

CROP, FLIP, TENSOR = v1.RandomResizedCrop(32), v1.RandomHorizontalFlip(), v1.ToTensor()
PLAIN = v1.Compose([CROP, FLIP, TENSOR])


class Preset:
    """As the references of torchvision have them."""

    def __init__(self) -> None:
        self.transforms = PLAIN

    def __call__(self, img: Any) -> Any:
        return self.transforms(img)


class InTurn:
    def __init__(self, *steps: Any, flips: bool = True) -> None:
        self.steps = steps
        self.flip = FLIP if flips else None

    def __call__(self, image: Any) -> Any:
        """A loop, conditions, a method."""
        image = image.convert("RGB")
        if self.flip is not None:
            image = self.flip(image)
        for step in self.steps:
            image = step(image)
        return self.end(image)

    def end(self, image: Any) -> Any:
        return TENSOR(image)


class Module(torch.nn.Module):  # type: ignore[misc]
    class Ends(torch.nn.Module):  # type: ignore[misc]
        def forward(self, image: Any) -> Any:
            return TENSOR(image)

    def __init__(self) -> None:
        super().__init__()
        self.crop = torch.nn.Sequential(CROP, FLIP)
        self.rest = torch.nn.ModuleList([Module.Ends()])

    def forward(self, image: Any) -> Any:
        image = self.crop(image)
        for step in self.rest:
            image = step(image)
        return image


def function(image: Any) -> Any:
    return TENSOR(FLIP(CROP(image)))


def made_by(crop: Any) -> Callable[[Any], Any]:
    def inner(image: Any) -> Any:
        cropped = crop(image)
        return TENSOR(FLIP(cropped))

    return inner


def in_lambdas() -> Any:
    to_rgb = v1.Lambda(lambda image: image.convert("RGB"))
    return v1.Compose([to_rgb, lambda image: FLIP(CROP(image)), TENSOR])


CALLABLES = {
    "preset": Preset(),
    "loop": InTurn(CROP),
    "module": Module(),
    "function": function,
    "closure": made_by(CROP),
    "lambdas": in_lambdas(),
    "bound method": Preset().__call__,
}


def plan_of(transform: Any) -> Plan | None:
    return read_transform(transform)[0]


@pytest.mark.parametrize("name", CALLABLES)
def test_what_only_calls_others_is_what_it_calls(name: str) -> None:
    assert plan_of(PLAIN) is not None
    assert plan_of(CALLABLES[name]) == plan_of(PLAIN)


def test_conditions_are_as_they_stand() -> None:
    plan = plan_of(InTurn(CROP, flips=False))
    assert plan is not None and plan.horizontal_flip == 0


class Counts(Preset):
    calls = 0

    def __call__(self, img: Any) -> Any:
        self.calls += 1
        return self.transforms(img)


class AsksAProperty:
    @property
    def crop(self) -> Any:
        return CROP

    def __call__(self, img: Any) -> Any:
        return self.crop(img)


class HasItsOwnAttributes(Preset):
    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


def _twice(image: Any) -> Any:
    cropped = CROP(image)
    FLIP(image)
    return cropped


def _two_views(image: Any) -> Any:
    return CROP(image), CROP(image)


def _earlier_again(image: Any) -> Any:
    cropped = CROP(image)
    flipped = FLIP(cropped)  # noqa: F841 (what is looked for)
    return TENSOR(cropped)


def _with_more(image: Any) -> Any:
    return v1.functional.resize(image, [4, 4])


def _with_default(image: Any, target: Any = None) -> Any:
    return CROP(image)


def _nothing(image: Any) -> Any:
    CROP(image)


def _generates(image: Any) -> Any:
    yield CROP(image)


def _by_random(image: Any) -> Any:
    if torch.rand(1) < 0.5:
        return image
    return CROP(image)


def _decorated(image: Any) -> Any:
    return CROP(image)


@pytest.mark.parametrize(
    "part",
    [
        Counts(),
        AsksAProperty(),
        HasItsOwnAttributes(),
        _twice,
        _two_views,
        _earlier_again,
        _with_more,
        _with_default,
        _nothing,
        _generates,
        _by_random,
        torch.nn.Dropout(),
        v1.RandomApply([FLIP]),
        v1.RandomRotation(5),
        eval("lambda image: CROP(image)"),
        len,
    ],
    ids=lambda part: getattr(part, "__name__", type(part).__name__),
)
def test_what_does_anything_else_stays_as_it_is(part: Any) -> None:
    assert steps_within(part) is None


def test_a_function_whose_source_has_changed_since_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text("def f(image):\n    return CROP(image)\n")
    names: dict[str, Any] = {"CROP": CROP, "FLIP": FLIP}
    exec(compile(path.read_text(), path, "exec"), names)
    path.write_text("def f(image):\n    return FLIP(image)\n")
    assert steps_within(names["f"]) is None
    exec(compile(path.read_text(), path, "exec"), names)
    assert steps_within(names["f"]) == [FLIP]


def test_an_exchanged_forward_or_a_hook_is_seen() -> None:
    module = Module()
    module.__dict__["forward"] = types.MethodType(lambda self, image: TENSOR(image), module)
    assert steps_within(module) is None
    hooked = Module()
    hooked.register_forward_hook(lambda *_: None)
    assert steps_within(hooked) is None


def test_one_that_holds_itself_ends() -> None:
    preset = Preset()
    preset.transforms = preset
    assert plan_of(preset) is None


def test_what_stays_python_gets_what_it_would_have_got() -> None:
    seen = []

    def look(image: Any) -> Any:
        seen.append(image)
        return image

    prefix = read_prefix(InTurn(CROP, look))
    assert prefix is not None
    assert prefix.count == 3 and prefix.rest[0] is look and prefix.rest[1] is TENSOR
    assert isinstance(steps_within(InTurn(CROP))[0], AsRgb)  # type: ignore[index]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Forty photographs made of noise, of other sizes."""
    generator = torch.Generator().manual_seed(0)
    for number in range(40):
        height, width = 240 + number, 300 - number
        small = torch.rand(3, 12, 12, generator=generator)
        large = torch.nn.functional.interpolate(small[None], (height, width), mode="bicubic")[0]
        path = tmp_path / "ab"[number % 2] / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        picture = large.clamp(0, 1).mul(255).byte().permute(1, 2, 0).numpy()
        Image.fromarray(picture).save(path, quality=95)
    return tmp_path


@pytest.mark.parametrize("given", ["of the weights", "in v2", "within a function"])
def test_the_transforms_of_weights_run_natively(pictures: Path, given: str) -> None:
    own = ResNet50_Weights.IMAGENET1K_V2.transforms()
    transform = {
        "of the weights": own,
        "in v2": v2.Compose([v2.Identity(), own]),
        "within a function": lambda image: own(image.convert("RGB")),
    }[given]
    dataset = datasets.ImageFolder(pictures, transform)
    loader = unstarve.DataLoader(dataset, batch_size=8)
    assert loader.explain().engine == "native", loader.explain()
    for (images, labels), (expected, numbers) in zip(
        loader, DataLoader(dataset, batch_size=8), strict=True
    ):
        assert torch.equal(labels, numbers) and images.stride() == expected.stride()
        away = (images - expected).abs() * 255 * torch.tensor(own.std)[:, None, None]
        # Pillow's resizing is 2 from torchvision's own in a few values.
        assert away.max() < 2.1 and (away > 1.1).float().mean() < 1e-3
