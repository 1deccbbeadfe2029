"""GIFs and TIFFs of many kinds, sound and damaged: the engine has PIL's pixels or none."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
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

CUT = transforms.Compose([transforms.CenterCrop(24), transforms.PILToTensor()])
SIZES = ((1, 1), (5, 3), (17, 9), (40, 64), (33, 70))


def codes_of(indices: bytes, bits: int, block: int) -> bytes:
    """Every index by its own code, after one that clears: blocks of a GIF."""
    held, width = 0, bits + 1
    codes = [code for index in indices for code in (1 << bits, index)] + [(1 << bits) + 1]
    for place, code in enumerate(codes):
        held |= code << place * width
    packed = held.to_bytes((len(codes) * width + 7) // 8, "little")
    pieces = [packed[at : at + block] for at in range(0, len(packed), block)]
    return b"".join(bytes([len(piece)]) + piece for piece in pieces) + b"\0"


def gif_palette(draw: random.Random, bits: int) -> bytes:
    greys = b"".join(bytes([grey] * 3) for grey in range(1 << bits))
    return greys if draw.random() < 0.2 else draw.randbytes(len(greys))


def made_gif(draw: random.Random) -> bytes:
    width, height = draw.choice([*SIZES, (0, 0)])
    left = top = 0
    across, down = width or 7, height or 6
    if draw.random() < 0.4 and width:  # elsewhere on the screen, perhaps past its end
        left, top = draw.randrange(width), draw.randrange(height)
        across, down = draw.randrange(1, width + 4), draw.randrange(1, height + 4)
    bits = draw.choice([2, 3, 4, 8, 8])
    has_palette, has_own = draw.random() < 0.8, draw.random() < 0.3
    file = draw.choice([b"GIF87a", b"GIF89a"]) + struct.pack("<HH", width, height)
    colours = draw.choice([bits, bits, bits, bits - 1])
    file += bytes([0x80 | (colours - 1) if has_palette else 0, 3, 0])
    file += gif_palette(draw, colours) if has_palette else b""
    parts = [b"!\xfe\x02hi\0", b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", b"?", b"!\x01\x01a\0"]
    seen = bytes([draw.choice([0, 1, draw.randrange(256)])])
    parts += [b"!\xf9\x04" + bytes([draw.choice([0, 1, 9])]) + b"\0\0" + seen + b"\0"] * 3
    file += b"".join(draw.choice(parts) for _ in range(draw.randrange(3)))
    file += b"," + struct.pack("<HHHH", left, top, across, down)
    file += bytes([(0x80 | (bits - 1) if has_own else 0) | draw.choice([0, 0x40])])
    file += gif_palette(draw, bits) if has_own else b""
    indices = bytes(draw.randrange(1 << bits) for _ in range(across * down))
    return file + bytes([bits]) + codes_of(indices, bits, draw.choice([255, 7])) + b";"


#: Of TIFFs: how colours are told, by how many samples of how many bits, what the last ones are.
COLOURS: tuple[tuple[int, int, int, tuple[int, ...]], ...] = (
    *((colours, 1, bits, ()) for colours in (0, 1, 3) for bits in (1, 2, 4, 8)),
    *((2, 3 + len(extra), 8, extra) for extra in ((), (0,), (2,), (0, 0), (2, 0), (1,), (999,))),
    *((5, 4 + len(extra), 8, extra) for extra in ((), (0,), (2,))),
    *((1, 2, 8, (kind,)) for kind in (0, 1, 2)),
    *((2, 4, 8, ()), (0, 2, 8, (0,)), (3, 2, 8, (0,)), (6, 3, 8, ()), (8, 3, 8, ())),
    *((1, 1, 16, ()), (2, 3, 16, ()), (1, 1, 32, ())),
)


def runs_of(row: bytes) -> bytes:
    return b"".join(
        bytes([len(row[at : at + 99]) - 1]) + row[at : at + 99] for at in range(0, len(row), 99)
    )


PACKED: dict[int, Callable[[bytes], bytes]] = {
    1: bytes,
    8: zlib.compress,
    32946: zlib.compress,
    32773: lambda stored: b"\x80" + runs_of(stored),
}


class TiffTags:
    """A directory, written behind what is there already."""

    def __init__(self, order: str) -> None:
        self.order = order
        self.file = bytearray((b"II*\0" if order == "<" else b"MM\0*") + bytes(4))
        self.tags: dict[int, tuple[str, tuple[int, ...]]] = {}

    def finished(self) -> bytes:
        entries = b""
        for tag, (kind, values) in sorted(self.tags.items()):
            held = struct.pack(f"{self.order}{len(values)}{kind}", *values)
            if len(held) > 4:
                at = struct.pack(f"{self.order}I", len(self.file))
                self.file += held
                held = at
            number = {"B": 1, "H": 3, "I": 4}[kind]
            entries += struct.pack(f"{self.order}HHI", tag, number, len(values))
            entries += held.ljust(4, b"\0")
        self.file[4:8] = struct.pack(f"{self.order}I", len(self.file))
        count = struct.pack(f"{self.order}H", len(self.tags))
        return bytes(self.file) + count + entries + bytes(4)


def made_tiff(draw: random.Random) -> bytes:
    tiff = TiffTags(draw.choice("<>"))
    width, height = draw.choice(SIZES)
    colours, samples, bits, extra = draw.choice(COLOURS)
    packing = draw.choice(list(PACKED))
    is_tiled = draw.random() < 0.3
    across, down = (width, draw.choice([1, 3, 8, height, height + 5]))
    if is_tiled:
        across, down = draw.choice([16, 32, 48]), draw.choice([16, 32])
    stride = (across * samples * bits + 7) // 8
    offsets, counts = [], []
    for top in range(0, height, down):
        for _ in range(0, width, across):
            rows = down if is_tiled else min(down, height - top)
            piece = PACKED[packing](draw.randbytes(stride * rows))
            offsets.append(len(tiff.file))
            counts.append(len(piece))
            tiff.file += piece
    tiff.tags |= {256: ("H", (width,)), 257: ("I", (height,)), 258: ("H", (bits,) * samples)}
    tiff.tags |= {259: ("H", (packing,)), 262: ("H", (colours,)), 277: ("H", (samples,))}
    if is_tiled:
        tiff.tags |= {322: ("H", (across,)), 323: ("I", (down,))}
    else:
        tiff.tags[278] = ("I", (down,))
    tiff.tags[324 if is_tiled else 273] = ("I", tuple(offsets))
    tiff.tags[325 if is_tiled else 279] = ("I", tuple(counts))
    if colours == 3:
        tiff.tags[320] = ("H", tuple(draw.randrange(1 << 16) for _ in range(3 << bits)))
    if extra:
        tiff.tags[338] = ("H", extra)
    if packing in (8, 32946):
        tiff.tags[317] = ("H", (draw.choice([1, 1, 2]),))
    if draw.random() < 0.2:
        tiff.tags[274] = ("H", (draw.choice([1, 1, 3, 6, 9]),))
    if draw.random() < 0.1:
        tiff.tags[700] = ("B", tuple(b'<x tiff:Orientation="6"/>'))
    return tiff.finished()


def saved(draw: random.Random, kind: str) -> bytes:
    """As PIL writes such files."""
    height, width = draw.choice([(3, 5), (70, 64), (150, 200)])
    pixels = np.random.default_rng(draw.randrange(99)).integers(
        0, draw.choice([3, 256]), (height, width, 3), dtype=np.uint8
    )
    modes = ["P", "L", "RGB", "1"] + (["RGBA", "CMYK", "LA"] if kind == "TIFF" else [])
    mode = draw.choice(modes)
    image = Image.fromarray(pixels)
    image = image.convert("L").convert("LA") if mode == "LA" else image.convert(mode)
    packings = [None, "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"]
    more: dict[str, Any] = {"interlace": draw.choice([0, 1])}
    if kind == "TIFF":
        more = {"compression": draw.choice(packings if mode in ("L", "RGB") else packings[:-1])}
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


def damaged(draw: random.Random, file: bytes) -> bytes:
    """Some of its bytes are others, or the end is gone."""
    changed = bytearray(file)
    if draw.random() < 0.2:
        return file[: draw.randrange(len(file))]
    for _ in range(draw.randrange(1, 4)):
        changed[draw.randrange(len(file))] = draw.choice([0, 1, 255, draw.randrange(256)])
    return bytes(changed)


def pils(file: bytes) -> Any:
    """The RGB image; None where PIL raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Image.open(io.BytesIO(file), formats=["GIF", "TIFF"]).convert("RGB")
        except Exception:
            return None


def ours(file: bytes, box: tuple[int, int, int, int]) -> bytes | None:
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    pixels = bytearray(3 * width * height)
    cut = (left, top, width, height, width, height, 0, 0, width, height, 0, 0, 0)
    try:
        _native.ImageCutter(1 << 20).cut(file, cut, pixels)
    except unstarve.errors.UnstarveError:
        return None
    return bytes(pixels)


@pytest.mark.parametrize("kind", ["GIF", "TIFF"])
def test_pixels_are_those_of_pil(kind: str) -> None:
    made = {"GIF": made_gif, "TIFF": made_tiff}[kind]
    outcomes: Counter[str] = Counter()
    for seed in range(600):
        draw = random.Random(f"{kind} {seed}")
        file = made(draw) if seed % 3 else saved(draw, kind)
        is_damaged = draw.random() < 0.3
        file = damaged(draw, file) if is_damaged else file
        expected = pils(file)
        if expected is None:
            assert ours(file, (0, 0, 1, 1)) is None or is_damaged, seed
            continue
        width, height = expected.size
        if width * height > 1 << 20:
            continue
        left, top = draw.choice([(0, 0), (draw.randrange(width), draw.randrange(height))])
        box = (left, top, draw.randrange(left + 1, width + 1), draw.randrange(top + 1, height + 1))
        got = ours(file, box)
        assert got is None or got == expected.crop(box).tobytes(), seed
        outcomes["left to PIL" if got is None else "same"] += 1
    assert outcomes["same"] > 200, outcomes


def test_an_epoch_of_both_is_torchs(tmp_path: Path) -> None:
    folder = tmp_path / "class0"
    folder.mkdir()
    picture = Image.fromarray(
        np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    )
    for mode in ("RGB", "L", "P", "RGBA", "CMYK", "1"):
        for packing in (None, "tiff_lzw", "tiff_adobe_deflate"):
            name = f"{mode} {packing}.tif"
            picture.convert(mode).save(folder / name, compression=packing)
    picture.save(folder / "a gif.jpg", "GIF")
    picture.save(folder / "moving.png", "GIF", save_all=True, append_images=[picture.rotate(90)])
    picture.save(folder / "pages.tiff", save_all=True, append_images=[picture.rotate(90)])
    dataset = datasets.ImageFolder(str(tmp_path), CUT)
    loader = DataLoader(dataset, batch_size=5)
    assert loader.explain().engine == "native", loader.explain()
    for mine, reference in zip(loader, data.DataLoader(dataset, batch_size=5), strict=True):
        assert torch.equal(mine[0], reference[0])
    assert loader.stats()["samples_by_python"] == 0


def test_what_pil_alone_knows_is_left_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "class0"
    folder.mkdir()
    deep: Any = np.arange(40 * 50, dtype=np.uint16).reshape(40, 50)
    picture = Image.fromarray(deep.astype(np.uint8)).convert("RGB")
    turned = Image.Exif()
    turned[274] = 6
    Image.fromarray(deep).save(folder / "16 bits.tif")
    picture.convert("1").save(folder / "fax.tif", compression="group4")
    picture.save(folder / "jpeg.tif", compression="jpeg")
    picture.save(folder / "turned.tif", exif=turned)
    for number in range(80):
        picture.save(folder / f"usual {number}.tif")
    dataset = datasets.ImageFolder(str(tmp_path), CUT)
    loader = DataLoader(dataset, batch_size=4)
    assert loader.explain().engine == "native", loader.explain()
    for mine, reference in zip(loader, data.DataLoader(dataset, batch_size=4), strict=True):
        assert torch.equal(mine[0], reference[0])
    assert loader.stats()["samples_by_python"] == 4


def test_shards_and_tars_keep_them(tmp_path: Path) -> None:
    import subprocess
    import tarfile

    folder = tmp_path / "images" / "class0"
    folder.mkdir(parents=True)
    picture = Image.fromarray(
        np.random.default_rng(2).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    )
    picture.save(folder / "a.tif", compression="tiff_lzw")
    picture.convert("P").save(folder / "b.png", "GIF")
    made = ["unstarve", "pack", str(folder.parent), str(tmp_path / "shards")]
    subprocess.run(made, check=True, capture_output=True)
    with tarfile.open(tmp_path / "one.tar", "w") as tar:
        tar.add(folder / "a.tif", "a.tif")
        tar.add(folder / "b.png", "b.gif")
    named: Any = {"batch_size": 2, "size": 16, "train": False}
    (expected, _), *_ = unstarve.ImageLoader(folder.parent, **named)
    for root in (tmp_path / "shards", tmp_path / "one.tar"):
        (images, _), *_ = unstarve.ImageLoader(root, **named)
        assert torch.equal(images, expected), root
