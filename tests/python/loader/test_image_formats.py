"""Files of every format that the engine decodes, beside torch's loader and PIL."""

from __future__ import annotations

import io
import struct
import zlib
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


#: Colour types of PNG's header, with the depths that PIL gives as 8 bits.
KINDS = {0: (1, 2, 4, 8), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
#: Of the seven passes of an interlaced image: the first pixel and the steps to the next ones.
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2))
LAST_PASS = (0, 1, 1, 2)


def chunk(kind: bytes, held: bytes) -> bytes:
    return struct.pack(">I", len(held)) + kind + held + struct.pack(">I", zlib.crc32(kind + held))


def made_png(size: tuple[int, int], colour: int, depth: int, interlaced: bool) -> bytes:
    """Every kind that the specification knows, of random bytes with every filter."""
    random = np.random.default_rng([*size, colour, depth])
    width, height = size
    grids = (*ADAM7, LAST_PASS) if interlaced else ((0, 0, 1, 1),)
    rows = b""
    for x, y, across, down in grids:
        in_a_row = (width - x + across - 1) // across if x < width else 0
        count = (height - y + down - 1) // down if in_a_row and y < height else 0
        for number in range(count):
            is_indices = colour == 3 and depth == 8
            filtered = 0 if is_indices else number % 5
            values = random.integers(0, 200 if is_indices else 256, 9999, dtype=np.uint8)
            bits = in_a_row * CHANNELS[colour] * depth
            rows += bytes([filtered]) + values.tobytes()[: (bits + 7) // 8]
    stream = zlib.compress(rows)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    colours = chunk(b"PLTE", random.bytes(3 * min(200, 1 << depth))) if colour == 3 else b""
    middle = len(stream) // 2
    data = chunk(b"IDAT", stream[:middle]) + chunk(b"IDAT", stream[middle:])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + colours + data + chunk(b"IEND", b"")


@pytest.mark.parametrize("interlaced", [False, True])
def test_pngs_have_the_pixels_of_pil(interlaced: bool) -> None:
    cutter = _native.ImageCutter(1 << 20)
    kinds = [(colour, depth) for colour, depths in KINDS.items() for depth in depths]
    for colour, depth in kinds:
        for size in ((1, 1), (3, 2), (9, 70), (129, 65)):
            file = made_png(size, colour, depth, interlaced)
            expected = Image.open(io.BytesIO(file)).convert("RGB")
            for left, top in ((0, 0), (size[0] // 3, size[1] // 2)):
                width, height = size[0] - left, size[1] - top
                pixels = bytearray(3 * width * height)
                cut = (left, top, width, height, width, height, 0, 0, width, height, 0, 0, 0)
                cutter.cut(file, cut, pixels)
                part = expected.crop((left, top, left + width, top + height))
                assert bytes(pixels) == part.tobytes(), (colour, depth, size)


def test_an_epoch_of_pngs_is_torchs(tmp_path: Path) -> None:
    folder = tmp_path / "class0"
    folder.mkdir()
    for number, mode in enumerate(["RGB", "L", "P", "RGBA", "LA", "1"]):
        picture(number).convert(mode).save(folder / f"{number}.png")
    (folder / "6.png").write_bytes(made_png((50, 40), 6, 16, True))
    picture(7).save(folder / "7 really a png.jpg", format="png")
    dataset = datasets.ImageFolder(str(tmp_path), CUT)
    loader = DataLoader(dataset, batch_size=3)
    assert loader.explain().engine == "native", loader.explain()
    assert torch.equal(epoch(loader), epoch(data.DataLoader(dataset, batch_size=3)))
    assert loader.stats()["samples_by_python"] == 0


def test_an_epoch_of_webps_is_torchs(tmp_path: Path) -> None:
    folder = tmp_path / "class0"
    folder.mkdir()
    for number, mode in enumerate(["RGB", "RGBA", "L", "P"]):
        picture(number).convert(mode).save(folder / f"{number}.webp")
        picture(number).convert(mode).save(folder / f"{number} exact.webp", lossless=True)
    dataset = datasets.ImageFolder(str(tmp_path), CUT)
    loader = DataLoader(dataset, batch_size=3)
    assert loader.explain().engine == "native", loader.explain()
    assert torch.equal(epoch(loader), epoch(data.DataLoader(dataset, batch_size=3)))
    assert loader.stats()["samples_by_python"] == 0


def test_what_pil_alone_knows_is_left_to_it(tmp_path: Path) -> None:
    """One bit a pixel, grey of 16, animations, others: the bytes decide, not the name."""
    folder = bitmaps(tmp_path) / "class0"
    picture(8).convert("RGBA").save(folder / "8.bmp")
    picture(9).convert("1").save(folder / "9.bmp")
    picture(10).save(folder / "10 really a ppm.bmp", format="ppm")
    picture(11).save(folder / "11 really a bmp.jpg", format="bmp")
    grey: Any = np.full((31, 40), 999, np.uint16)
    Image.fromarray(grey).save(folder / "12 grey of 16 bits.png")
    images = [picture(13), picture(14)]
    for ending in ("png", "webp"):
        name = folder / f"13 moving.{ending}"
        images[0].save(name, save_all=True, append_images=images[1:])
    dataset = datasets.ImageFolder(str(tmp_path), CUT)
    loader = DataLoader(dataset, batch_size=4)
    assert torch.equal(epoch(loader), epoch(data.DataLoader(dataset, batch_size=4)))
    assert loader.stats()["samples_by_python"] == 5


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
    assert sorted(_native.image_endings()) == [
        *(".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
    ]
