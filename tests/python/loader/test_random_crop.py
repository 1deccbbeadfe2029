"""RandomCrop without Resize, with padding around the image: the pixels of torchvision's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import unstarve
from made_photos import copies_of_one
from PIL import Image
from torch.utils import data
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import functional, v2

COPIES = 600


def drawn_natively(root: Path, crop: Any) -> torch.Tensor:
    dataset = datasets.ImageFolder(str(root), v1.Compose([crop, v1.PILToTensor()]))
    torch.manual_seed(3)
    loader = unstarve.DataLoader(dataset, batch_size=50)
    assert loader.explain().engine == "native", loader.explain()
    return torch.cat([images for images, _ in loader])


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("padding", [0, 2, (1, 2, 0, 3)])
def test_each_place_is_drawn_and_holds_what_it_should(
    tmp_path: Path, library: Any, padding: Any
) -> None:
    root = copies_of_one(tmp_path, 9, 8, COPIES)
    crop = library.RandomCrop((7, 8), padding)
    made = drawn_natively(root, crop)
    picture = Image.open(root / "class0" / "0000.png").convert("RGB")
    padded = functional.pil_to_tensor(functional.pad(picture, padding))
    _, height, width = padded.shape
    places = {
        padded[:, top : top + 7, left : left + 8].numpy().tobytes(): 0
        for top in range(height - 6)
        for left in range(width - 7)
    }
    for image in made:
        places[image.numpy().tobytes()] += 1
    # A place is missed by chance less than once in a thousand runs; the seed is given.
    assert min(places.values()) > 0
    expected = COPIES / len(places)
    squares = sum((count - expected) ** 2 / expected for count in places.values())
    assert squares < len(places) + 4 * (2 * len(places)) ** 0.5


def test_an_image_too_small_is_padded_if_asked(tmp_path: Path) -> None:
    root = copies_of_one(tmp_path, 5, 12, 100)
    made = drawn_natively(root, v1.RandomCrop(8, pad_if_needed=True))
    picture = Image.open(root / "class0" / "0000.png").convert("RGB")
    padded = functional.pil_to_tensor(functional.pad(picture, [3, 0]))
    places = {
        padded[:, top : top + 8, left : left + 8].numpy().tobytes()
        for top in range(5)
        for left in range(4)
    }
    assert {image.numpy().tobytes() for image in made} == places


def test_an_image_too_small_raises_as_torchs(tmp_path: Path) -> None:
    root = copies_of_one(tmp_path, 5, 12, 4)
    dataset = datasets.ImageFolder(str(root), v1.Compose([v1.RandomCrop(8), v1.PILToTensor()]))
    messages = []
    for cls in (data.DataLoader, unstarve.DataLoader):
        with pytest.raises(ValueError, match="Required crop size") as raised:
            list(cls(dataset, batch_size=2))
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
