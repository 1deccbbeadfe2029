"""Rows of Hugging Face's tables that are not as most: the engine's, Python's, and errors."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unstarve
from made_photos import make_photos
from made_tables import assert_alike, both, error_of, guide, table
from PIL import Image
from torch.utils import data
from torchvision import transforms as v1

GREYS = v1.Compose([v1.Resize(48), v1.CenterCrop(40), v1.Grayscale(3), v1.ToTensor()])
#: So many rows have an odd one between any two that are looked at.
MANY = 160


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = make_photos(tmp_path_factory.mktemp("photos"), 90, 70)
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def encoded(image: Any, kind: str, **more: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **more)
    return stream.getvalue()


def turned(image: Any, orientation: int = 6) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(image, "JPEG", exif=exif)


def odd_rows(photos: list[bytes], folder: Path) -> dict[str, Any]:
    image = Image.open(io.BytesIO(photos[3]))
    (folder / "beside.jpg").write_bytes(photos[4])
    deep: Any = np.arange(70 * 90, dtype=np.uint16).reshape(70, 90) * 9
    return {
        "grey": encoded(image.convert("L"), "JPEG"),
        "cmyk": encoded(image.convert("CMYK"), "JPEG"),
        "palette": encoded(image.convert("P"), "PNG"),
        "alpha": encoded(image.convert("RGBA"), "PNG"),
        "webp": encoded(image, "WEBP", lossless=True),
        "upright": turned(image, 1),
        "a path": {"bytes": None, "path": str(folder / "beside.jpg")},
        # Python alone loads these.
        "16 bits": encoded(Image.fromarray(deep), "PNG"),
        "turned": turned(image),
        "a turned path": {"bytes": None, "path": str(_written(folder, turned(image)))},
        "PPM": encoded(image, "PPM"),
    }


def _written(folder: Path, file: bytes) -> Path:
    path = folder / "turned.jpg"
    path.write_bytes(file)
    return path


@pytest.mark.parametrize("workers", [0, 1])
def test_odd_rows_are_what_they_would_be(photos: list[bytes], tmp_path: Path, workers: int) -> None:
    odd = odd_rows(photos, tmp_path)
    images: list[Any] = [photos[number % 12] for number in range(MANY)]
    for number, row in enumerate(odd.values()):
        images[2 * number + 1] = row
    dataset = table(images).with_transform(guide)
    for expected, got in both(dataset, batch_size=16, num_workers=workers):
        assert_alike(expected, got)
    loader = unstarve.DataLoader(dataset, batch_size=16, num_workers=workers)
    list(loader)
    assert 3 <= loader.stats()["samples_by_python"] <= 4


@pytest.mark.parametrize("workers", [0, 1])
def test_a_row_that_cannot_be_loaded_raises_what_it_would(
    photos: list[bytes], workers: int
) -> None:
    cases = {
        "NoneType": None,
        "No such file": {"bytes": None, "path": "/nowhere/one.jpg"},
        "cannot identify": b"no image at all",
        "truncated": photos[0][:-300],
    }
    for message, row in cases.items():
        images: list[Any] = [photos[number % 12] for number in range(MANY)]
        images[1] = row
        dataset = table(images)
        dataset = dataset.with_transform(guide)
        loader = unstarve.DataLoader(dataset, batch_size=4, num_workers=workers)
        assert loader.explain().engine == "native"
        told = error_of(loader)
        assert message in told[1]
        torchs = error_of(data.DataLoader(dataset, batch_size=4))
        assert told[0] is torchs[0] and message in torchs[1]


def test_where_many_images_are_turned_python_loads_all(photos: list[bytes]) -> None:
    image = Image.open(io.BytesIO(photos[3]))
    dataset = table([*photos, *[turned(image)] * 4]).with_transform(guide)
    explanation = unstarve.DataLoader(dataset, batch_size=4, num_workers=1).explain()
    assert explanation.engine == "workers"
    assert "of 16 images that were looked at, 4 are" in explanation.reason
    for expected, got in both(dataset, engine="workers", num_workers=1):
        assert_alike(expected, got)


def of_any_mode(examples: Any) -> Any:
    return {"pixel_values": [GREYS(image) for image in examples["image"]]}


def test_images_that_are_not_converted(photos: list[bytes], tmp_path: Path) -> None:
    images: list[Any] = [photos[number % 12] for number in range(MANY)]
    odd = odd_rows(photos, tmp_path)
    for number, row in enumerate(("grey", "palette", "a path")):
        images[2 * number + 1] = odd[row]
    dataset = table(images).with_transform(of_any_mode)
    for expected, got in both(dataset, batch_size=16):
        assert_alike(expected, got)
    loader = unstarve.DataLoader(dataset, batch_size=16)
    list(loader)
    assert loader.stats()["samples_by_python"] == 2
