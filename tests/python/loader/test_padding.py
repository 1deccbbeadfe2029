"""Pad, and random crops of what is padded: the pixels of torchvision's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import unstarve
from made_photos import copies_of_one
from PIL import Image
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import functional, v2

MODES = ["constant", "edge", "reflect", "symmetric"]
COPIES = 800


def native(root: Path, *parts: Any, library: Any = v1) -> torch.Tensor:
    dataset = datasets.ImageFolder(str(root), library.Compose(list(parts)))
    torch.manual_seed(3)
    loader = unstarve.DataLoader(dataset, batch_size=50)
    assert loader.explain().engine == "native", loader.explain()
    return torch.cat([images for images, _ in loader])


def are_crops_of(made: torch.Tensor, padded: torch.Tensor, flips: bool = False) -> None:
    """All of them, and each place is among them."""
    height, width = made.shape[-2:]
    views = [padded, padded.flip(-1)] if flips else [padded]
    places = {
        view[:, top : top + height, left : left + width].numpy().tobytes()
        for view in views
        for top in range(padded.shape[1] - height + 1)
        for left in range(padded.shape[2] - width + 1)
    }
    assert {image.numpy().tobytes() for image in made} == places


def picture_of(root: Path) -> Any:
    return Image.open(root / "class0" / "0000.png").convert("RGB")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("library", [v1, v2])
def test_random_crops_reach_into_paddings(tmp_path: Path, library: Any, mode: str) -> None:
    root = copies_of_one(tmp_path, 9, 8, COPIES)
    for padding, fill in ((2, 7), ((1, 2, 0, 3), (1, 20, 255))):
        crop = library.RandomCrop((7, 8), padding, fill=fill, padding_mode=mode)
        expected = functional.pad(picture_of(root), padding, fill, mode)
        are_crops_of(native(root, crop, v1.PILToTensor()), functional.pil_to_tensor(expected))


@pytest.mark.parametrize("mode", MODES)
def test_the_usual_steps_of_cifar(tmp_path: Path, mode: str) -> None:
    """Pad, a flip, and a crop as large as the image was."""
    root = copies_of_one(tmp_path, 8, 8, COPIES)
    steps = [v1.Pad(2, 9, mode), v1.RandomHorizontalFlip(), v1.RandomCrop(8), v1.PILToTensor()]
    padded = functional.pil_to_tensor(functional.pad(picture_of(root), 2, 9, mode))
    are_crops_of(native(root, *steps), padded, flips=True)
    resized = [v1.Resize((8, 8)), *steps]
    are_crops_of(native(root, *resized), padded, flips=True)


def test_an_image_too_small_is_padded_with_the_fill(tmp_path: Path) -> None:
    root = copies_of_one(tmp_path, 5, 12, 300)
    for mode in ("constant", "edge"):
        crop = v1.RandomCrop(8, pad_if_needed=True, fill=6, padding_mode=mode)
        padded = functional.pad(picture_of(root), [3, 0], 6, mode)
        made = native(root, crop, v1.PILToTensor())
        are_crops_of(made, functional.pil_to_tensor(padded))


def test_an_image_without_the_pixels_to_mirror_is_pythons(tmp_path: Path) -> None:
    """Pillow mirrors an image that is narrower than its padding more than once."""
    root = copies_of_one(tmp_path, 2, 12, 200)
    crop = v1.RandomCrop((8, 7), 3, padding_mode="reflect")
    padded = functional.pad(picture_of(root), 3, padding_mode="reflect")
    made = native(root, crop, v1.PILToTensor())
    are_crops_of(made, functional.pil_to_tensor(padded))


BEFORE: dict[str, Callable[[Any], list[Any]]] = {
    "RandomResizedCrop": lambda library: [library.RandomResizedCrop((6, 7), (1, 1), (1.5, 1.5))],
    "Resize": lambda library: [library.Resize((6, 7)), library.RandomVerticalFlip(1.0)],
    "CenterCrop": lambda library: [library.CenterCrop((6, 7)), library.RandomHorizontalFlip(1.0)],
    "CenterCrop of fewer": lambda library: [library.CenterCrop((14, 11))],
    "Resize and CenterCrop": lambda library: [library.Resize(8), library.CenterCrop((6, 7))],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", [2, (1, 3), (0, 1, 2, 4)])
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("library", [v1, v2])
def test_pads_behind_what_gives_images_their_size(
    tmp_path: Path, library: Any, before: str, padding: Any, mode: str
) -> None:
    root = copies_of_one(tmp_path, 9, 12, 2)
    steps = [*BEFORE[before](library), library.Pad(padding, (9, 80, 200), mode)]
    ours = native(root, *steps, v1.PILToTensor())
    theirs = v1.PILToTensor()(library.Compose(steps)(picture_of(root)))
    apart = (ours.int() - theirs.int()).abs()
    assert ours[0].shape == theirs.shape and int(apart.max()) <= 2
    # Once more as a tensor; twice, where that can be one padding; and in floats.
    if isinstance(padding, int) and mode != "reflect":
        steps = [
            v2.ToImage(),
            *BEFORE[before](v2),
            *[v2.Pad(1, 0, mode)],
            v2.ToDtype(torch.float32),
        ]
        if mode in ("constant", "edge"):
            steps.append(v2.Pad(1, 0, mode))
        theirs = v2.Compose(steps)(picture_of(root))
        ours = native(root, *steps, library=v2)
        assert float((ours - theirs).abs().max()) <= 1


def test_what_comes_behind_sees_the_padding(tmp_path: Path) -> None:
    root = copies_of_one(tmp_path, 9, 12, 3)
    steps = [v1.Resize((9, 9)), v1.Pad(3, 255), v1.RandomInvert(1.0), v1.ToTensor()]
    ours = native(root, *steps, v1.Normalize([0.5] * 3, [0.25] * 3))
    assert ours.shape == (3, 3, 15, 15)
    assert ours[:, :, :3].eq(-2).all() and ours[:, :, 3:-3, 3:-3].ne(-2).any()


def test_it_is_native_before_steps_that_are_not(tmp_path: Path) -> None:
    root = copies_of_one(tmp_path, 9, 12, 4)
    transform = v1.Compose(
        [v1.Resize((9, 9)), v1.Pad((1, 2, 3, 4), 50, "edge"), v1.Lambda(lambda image: image)]
    )

    def collate(samples: Any) -> torch.Tensor:
        return torch.stack([functional.pil_to_tensor(image) for image, _ in samples])

    dataset = datasets.ImageFolder(str(root), transform)
    loader = unstarve.DataLoader(dataset, batch_size=4, collate_fn=collate)
    assert loader.explain().engine == "partly"
    [ours] = loader
    theirs = functional.pil_to_tensor(transform(picture_of(root)))
    assert int((ours.int() - theirs.int()).abs().max()) <= 2
