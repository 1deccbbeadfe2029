"""Files of every format that the engine decodes, beside torch's loader and PIL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from PIL import Image
from torch.utils import data
from torchvision import datasets, transforms
from unstarve import DataLoader, _native

# Nothing of it makes new pixels.
CUT = transforms.Compose([transforms.CenterCrop(24), transforms.PILToTensor()])


def picture(number: int, size: tuple[int, int] = (40, 31)) -> Image.Image:
    """Every pixel differs from its neighbours."""
    random = np.random.default_rng(number)
    return Image.fromarray(random.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8))


def top_down(file: Path) -> None:
    """Turns a bitmap of 24 bits over: its first row is then the top one."""
    stored = bytearray(file.read_bytes())
    height = int.from_bytes(stored[22:26], "little")
    stored[22:26] = (-height).to_bytes(4, "little", signed=True)
    file.write_bytes(stored)


def bitmaps(root: Path) -> Path:
    folder = root / "class0"
    folder.mkdir(parents=True)
    for number, mode in enumerate(["RGB", "L", "P", "RGB"]):
        picture(number).convert(mode).save(folder / f"{number} {mode}.bmp")
    top_down(folder / "3 RGB.bmp")
    return root


def epoch(loader: Any) -> torch.Tensor:
    return torch.cat([images for images, _ in loader])


def test_bitmaps_have_the_pixels_of_pil(tmp_path: Path) -> None:
    dataset = datasets.ImageFolder(str(bitmaps(tmp_path)), CUT)
    loader = DataLoader(dataset, batch_size=3)
    assert loader.explain().engine == "native", loader.explain()
    assert torch.equal(epoch(loader), epoch(data.DataLoader(dataset, batch_size=3)))
    assert loader.stats()["samples_by_python"] == 0


def test_what_pil_alone_knows_is_left_to_it(tmp_path: Path) -> None:
    """Bit fields, one bit a pixel, run lengths: the bytes decide, whatever the name."""
    folder = bitmaps(tmp_path) / "class0"
    picture(8).convert("RGBA").save(folder / "8.bmp")
    picture(9).convert("1").save(folder / "9.bmp")
    picture(10).save(folder / "10 really a png.bmp", format="png")
    picture(11).save(folder / "11 really a bmp.jpg", format="bmp")
    dataset = datasets.ImageFolder(str(tmp_path), CUT)
    loader = DataLoader(dataset, batch_size=4)
    assert torch.equal(epoch(loader), epoch(data.DataLoader(dataset, batch_size=4)))


def test_jpegs_and_bitmaps_beside_each_other(folder: Path) -> None:
    picture(5, (90, 80)).save(folder / "class1" / "0.bmp")
    dataset = datasets.ImageFolder(str(folder), CUT)
    loader = DataLoader(dataset, batch_size=4)
    assert loader.explain().engine == "native", loader.explain()
    assert torch.equal(epoch(loader), epoch(data.DataLoader(dataset, batch_size=4)))


def test_of_bitmaps_a_cache_keeps_nothing(tmp_path: Path) -> None:
    root = bitmaps(tmp_path / "images")
    loader = unstarve.ImageLoader(
        root, batch_size=4, size=16, train=False, cache_dir=tmp_path / "cache"
    )
    first, second = epoch(loader).clone(), epoch(loader).clone()
    assert torch.equal(first, second)


def test_a_bitmap_that_was_cut_is_an_error_that_names_it(tmp_path: Path) -> None:
    folder = bitmaps(tmp_path) / "class0"
    whole = (folder / "0 RGB.bmp").read_bytes()
    (folder / "0 RGB.bmp").write_bytes(whole[:-1])
    loader = unstarve.ImageLoader(tmp_path, batch_size=4, size=16, train=False)
    with pytest.raises(unstarve.errors.CorruptDataError, match=r"0 RGB\.bmp: .*cut short"):
        list(loader)


def test_endings_are_told_once() -> None:
    assert sorted(_native.image_endings()) == [".bmp", ".jpeg", ".jpg"]
