"""What transformers' image processors give for images that a data set opens is transformers'."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
import unstarve
from made_photos import make_photos
from PIL import Image
from pillow_decodes import count_decoding, decodes
from torch.utils import data

#: 1 of 255, normalised: of two resizers.
NEAR = 1.01 / 255 / 0.2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("photos"), 90, 70)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    count_decoding(monkeypatch)


class Photos(data.Dataset[Any]):  # type: ignore[misc]
    """Two images a sample, and how many of them Pillow decoded."""

    def __init__(self, root: Path, processor: Any, converts: bool = True, **options: Any) -> None:
        self.paths = sorted(root.iterdir())
        self.processor = processor
        self.converts = converts
        self.options = options

    def __len__(self) -> int:
        return len(self.paths) // 2

    def __getitem__(self, index: int) -> Any:
        images = [Image.open(path) for path in self.paths[2 * index :][:2]]
        if self.converts:
            images = [image.convert("RGB") for image in images]
        before = decodes()
        made = self.processor(images, return_tensors="pt", **self.options)
        return made["pixel_values"], decodes() - before


def both(dataset: Any) -> Iterator[list[Any]]:
    options: Any = {"batch_size": None, "num_workers": 1}
    loaders = (cls(dataset, **options) for cls in (data.DataLoader, unstarve.DataLoader))
    yield from (list(pair) for pair in zip(*loaders, strict=True))


def check(dataset: Any, is_ours: bool) -> None:
    by_pillow = []
    for (expected, _), (made, decoded) in both(dataset):
        assert made.shape == expected.shape and made.dtype is expected.dtype
        assert type(made) is torch.Tensor and made.is_contiguous()
        away = (made - expected).abs()
        assert float((away > NEAR).float().mean()) < 1e-3
        by_pillow.append(decoded)
    # The first three are compared, of which the second sample has the last.
    assert by_pillow[2:] == [0 if is_ours else 2] * (len(by_pillow) - 2), by_pillow


PROCESSORS = {
    "vit": lambda: transformers.ViTImageProcessor(size={"height": 48, "width": 40}),
    "bicubic": lambda: transformers.ViTImageProcessor(size={"height": 40, "width": 40}, resample=3),
    "clip": lambda: transformers.CLIPImageProcessor(
        size={"shortest_edge": 48}, crop_size={"height": 40, "width": 40}
    ),
}


@pytest.mark.parametrize("converts", [True, False])
@pytest.mark.parametrize("name", PROCESSORS)
def test_images_are_made_by_the_engine(folder: Path, name: str, converts: bool) -> None:
    check(Photos(folder, PROCESSORS[name](), converts), is_ours=True)


def test_many_images_that_are_compared_at_once_are_not_in_vain(folder: Path) -> None:
    class Many(Photos):
        def __getitem__(self, index: int) -> Any:
            images = [Image.open(self.paths[0]).convert("RGB") for _ in range(40)]
            before = decodes()
            made = self.processor(images, return_tensors="pt")
            return made["pixel_values"], decodes() - before

    loader = unstarve.DataLoader(Many(folder, PROCESSORS["vit"]()), batch_size=None, num_workers=1)
    assert [decoded for _, decoded in loader][1:] == [0] * (len(loader) - 1)


@pytest.mark.parametrize(
    "options",
    [
        {"do_normalize": False},
        {"do_rescale": False, "do_normalize": False},
        {"resample": 0},
        {"do_center_crop": True, "crop_size": {"height": 99, "width": 40}},
        {"do_pad": True, "pad_size": {"height": 99, "width": 99}},
    ],
)
def test_what_the_engine_does_not_know_is_transformers(folder: Path, options: Any) -> None:
    check(Photos(folder, PROCESSORS["vit"](), **options), is_ours=False)


def test_a_processor_with_steps_of_its_own_is_left_alone(folder: Path) -> None:
    class Darker(transformers.ViTImageProcessor):  # type: ignore[misc]
        def normalize(self, image: Any, *given: Any, **more: Any) -> Any:
            return super().normalize(image, *given, **more) - 1

    check(Photos(folder, Darker(size={"height": 40, "width": 40})), is_ours=False)
    changed = PROCESSORS["vit"]()
    changed.resize = lambda image, **more: type(changed).resize(changed, image, **more).flip(-1)
    check(Photos(folder, changed), is_ours=False)


def test_errors_are_transformers(folder: Path) -> None:
    dataset = Photos(folder, PROCESSORS["vit"](), size={"nothing": 3})
    messages = []
    for cls in (data.DataLoader, unstarve.DataLoader):
        with pytest.raises(Exception, match="size") as raised:
            list(cls(dataset, batch_size=None, num_workers=1))
        messages.append(type(raised.value))
    assert messages[0] is messages[1]
