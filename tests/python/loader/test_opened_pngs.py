"""PNG files that a data set's own Python opens: what the engine makes of them is Pillow's."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from PIL import Image, PngImagePlugin
from pillow_decodes import count_decoding, decodes
from torch.utils import data
from torchvision import transforms
from torchvision.transforms import functional

WORKERS = {"num_workers": 1, "batch_size": 2}
EVALUATION = transforms.Compose(
    [transforms.Resize(40), transforms.CenterCrop(32), transforms.ToTensor()]
)
#: Pillow's resizing is 2 from torchvision's own in a few values.
NEAR = 2.1 / 255


def picture(number: int, mode: str = "RGB") -> Image.Image:
    random = np.random.default_rng(number)
    values = random.integers(0, 256, (7, 8, 4), dtype=np.uint8)
    return Image.fromarray(values).resize((64, 50), Image.Resampling.BICUBIC).convert(mode)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(10):
        picture(number).save(tmp_path / f"{number}.png")
    return tmp_path


class Files(data.Dataset[Any]):  # type: ignore[misc]
    """Of each file what `use` makes of it, and how often Pillow has decoded for it."""

    def __init__(self, root: Path, use: Callable[[Any], Any]) -> None:
        self.paths = sorted(root.iterdir())
        self.use = use

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        before = decodes()
        return self.use(Image.open(self.paths[index])), decodes() - before


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    count_decoding(monkeypatch)


def both(root: Path, use: Callable[[Any], Any], **options: Any) -> tuple[list[Any], list[Any]]:
    """What torch's loader gives, and ours."""
    arguments = {**WORKERS, "collate_fn": list, **options}
    loaders = (cls(Files(root, use), **arguments) for cls in (data.DataLoader, unstarve.DataLoader))
    theirs, ours = ([sample for batch in loader for sample in batch] for loader in loaders)
    return theirs, ours


def test_a_composition_is_the_engines(folder: Path) -> None:
    theirs, ours = both(folder, lambda image: EVALUATION(image.convert("RGB")))
    for (expected, _), (made, _) in zip(theirs, ours, strict=True):
        assert float((made - expected).abs().max()) <= NEAR
    assert [by_pillow for _, by_pillow in ours] == [1] * 3 + [0] * 7


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA"])
def test_loaded_ones_are_pillows_to_the_bit(tmp_path: Path, mode: str) -> None:
    for number in range(8):
        picture(number, mode).save(tmp_path / f"{number}.png", optimize=number % 2 == 1)

    def use(image: Any) -> Any:
        array = np.array(image)
        colours = image.getpalette()
        image.putpixel((3, 4), image.getpixel((5, 6)))  # it may be changed
        as_others = [np.array(image.convert(other)) for other in ("RGB", "RGBA", "L")]
        return array, colours, as_others, image.mode, image.size, image.info, image.text, image.fp

    theirs, ours = both(tmp_path, use)
    for (expected, _), (made, _) in zip(theirs, ours, strict=True):
        assert np.array_equal(made[0], expected[0]) and made[1] == expected[1]
        assert all(map(np.array_equal, made[2], expected[2]))
        assert made[3:] == expected[3:]
    assert [by_pillow for _, by_pillow in ours] == [1] * 3 + [0] * 5


def test_a_conversion_gives_pillows_pixels(tmp_path: Path) -> None:
    for number, mode in enumerate(["1", "L", "P", "LA", "RGB", "RGBA", "L", "P"]):
        picture(number, mode).save(tmp_path / f"{number}.png")

    def use(image: Any) -> Any:
        made = image.convert("RGB")
        after = np.array(image)  # it is still there
        return np.array(made), after, type(made) is Image.Image, made.info

    theirs, ours = both(tmp_path, use)
    for (expected, _), (made, _) in zip(theirs, ours, strict=True):
        assert np.array_equal(made[0], expected[0]) and np.array_equal(made[1], expected[1])
        assert made[2:] == expected[2:]


def chunk(kind: bytes, held: bytes) -> bytes:
    return struct.pack(">I", len(held)) + kind + held + struct.pack(">I", zlib.crc32(kind + held))


def saved(image: Image.Image, **more: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "png", **more)
    return stream.getvalue()


def odd_files() -> dict[str, bytes]:
    whole = saved(picture(1))
    words = PngImagePlugin.PngInfo()
    words.add_text("said", "before")
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0x55
    wrong_sum = bytearray(whole)
    wrong_sum[-14] ^= 1
    end = whole[-12:]
    grey: Any = np.arange(64, dtype=np.uint16).reshape(8, 8) * 999
    return {
        "words": saved(picture(2), pnginfo=words),
        "words behind": whole[:-12] + chunk(b"tEXt", b"said\0behind") + end,
        "more behind": whole + b"more",
        "transparent": saved(picture(3, "P"), transparency=3),
        "transparent colour": saved(picture(4), transparency=(1, 2, 3)),
        "moving": saved(picture(5), save_all=True, append_images=[picture(6)]),
        "grey of 16 bits": saved(Image.fromarray(grey)),
        "cut": whole[: len(whole) // 2],
        "damaged": bytes(damaged),
        "another checksum": bytes(wrong_sum),
        "no image": b"no image",
    }


def outcome(file: bytes, use: Callable[[Any], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(file))
            made = use(image)
            return np.array(made), made.mode, made.info, getattr(image, "text", None)
    except Exception as error:
        return type(error), str(error).split(" object")[0]


class Odd(data.Dataset[Any]):  # type: ignore[misc]
    """Errors come out where they would, in the script's own `try`."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        uses = (lambda image: image.convert("RGB"), lambda image: image.crop((1, 2, 7, 8)))
        return [outcome(file, use) for file in odd_files().values() for use in uses]


def test_odd_files_are_as_pillow_has_them() -> None:
    expected, made = (
        next(iter(cls(Odd(), num_workers=1, batch_size=None, collate_fn=list)))
        for cls in (data.DataLoader, unstarve.DataLoader)
    )
    for name, theirs, ours in zip(
        [name for name in odd_files() for _ in range(2)], expected, made, strict=True
    ):
        same = all(np.array_equal(a, b) for a, b in zip(theirs, ours, strict=True))
        assert same, (name, theirs, ours)


def test_masks_go_through_the_same_crops(tmp_path: Path) -> None:
    for number in range(6):
        picture(number, "P").save(tmp_path / f"{number}.png")

    def use(image: Any) -> Any:
        return functional.pil_to_tensor(functional.crop(image, 3, 5, 20, 30))

    theirs, ours = both(tmp_path, use)
    for (expected, _), (made, _) in zip(theirs, ours, strict=True):
        assert torch.equal(made, expected)


def test_files_that_were_opened_by_name_are_closed(folder: Path) -> None:
    def use(image: Any) -> Any:
        file = image.fp
        image.load()
        return file.closed, image.fp is None, image.filename.endswith(".png")

    theirs, ours = both(folder, use)
    assert [made for made, _ in ours] == [expected for expected, _ in theirs]
