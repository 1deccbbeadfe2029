"""Files that are opened by us instead of Pillow and OpenCV, in a script's own process."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unstarve
from made_photos import make_photos
from PIL import Image
from pillow_decodes import count_decoding, decodes
from torchvision import transforms


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_photos(tmp_path_factory.mktemp("photos"), 90, 70)
    for number, path in enumerate(sorted(root.glob("*.jpg"))[:3]):
        image = Image.open(path)
        image.convert(["RGB", "P", "L"][number]).save(root / f"{number}.png")
        image.save(root / f"{number}.tif")
    return root


@pytest.fixture
def by_pillow(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How much Pillow decodes from now on; nothing is compared any more."""
    from unstarve.engine.opened_image import here

    class Never(dict):  # type: ignore[type-arg]
        def setdefault(self, key: Any, default: Any = None) -> int:
            return 0

    monkeypatch.setattr(here, "left_to_compare", Never())
    count_decoding(monkeypatch)
    before = decodes()
    return lambda: decodes() - before


def test_an_opened_image_is_pillows(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        expected = Image.open(path).convert("RGB")
        image = unstarve.open_image(path)
        assert isinstance(image, Image.Image)
        assert (image.size, image.mode) == (expected.size, "RGB")
        box = (11, 7, 60, 50)
        assert np.array_equal(np.asarray(image.crop(box)), np.asarray(expected.crop(box)))
        assert np.array_equal(np.asarray(unstarve.open_image(str(path))), np.asarray(expected))
    with pytest.raises(FileNotFoundError):
        unstarve.open_image(folder / "no such.jpg")


def test_a_crop_of_it_is_decoded_by_the_engine(folder: Path, by_pillow: Callable[[], int]) -> None:
    image = unstarve.open_image(next(folder.glob("*.jpg")))
    transform = transforms.Compose([transforms.RandomResizedCrop(24), transforms.ToTensor()])
    assert transform(image).shape == (3, 24, 24)
    assert by_pillow() == 0


def test_a_read_image_is_an_array(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        expected = np.asarray(Image.open(path).convert("RGB"))[:, :, ::-1]
        assert unstarve.imread(path).shape == expected.shape
        for key in (
            np.s_[5:40, 9:33],
            np.s_[5:40],
            np.s_[-20:, :-3],
            np.s_[5:40:2, 9:33],
            np.s_[5:40, 9:33, 0],
            np.s_[7],
            np.s_[40:5, :],
            np.s_[...],
            np.s_[::-1],
        ):
            made = unstarve.imread(path)[key]
            assert type(made) is np.ndarray and np.array_equal(made, expected[key]), (path, key)
        image = unstarve.imread(path)
        assert len(image) == len(expected) and image.dtype == np.uint8 and image.ndim == 3
        assert float(image.mean()) == float(expected.mean())
        assert np.array_equal(np.asarray(image, dtype=np.float32), expected)
        for other in (copy.deepcopy(image), pickle.loads(pickle.dumps(image))):
            assert np.array_equal(np.asarray(other), expected)
    with pytest.raises(FileNotFoundError):
        unstarve.imread(folder / "no such.jpg")


def test_a_part_of_it_is_decoded_by_the_engine(folder: Path, by_pillow: Callable[[], int]) -> None:
    image = unstarve.imread(next(folder.glob("*.jpg")))
    assert image[5:40, 9:33].shape == (35, 24, 3) and "not decoded" in repr(image)
    assert by_pillow() == 0


def test_an_image_lies_as_its_exif_says(folder: Path, tmp_path: Path) -> None:
    image = Image.open(next(folder.glob("*.jpg")))
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter of a turn
    image.save(tmp_path / "turned.jpg", exif=exif)
    plain = Image.open(tmp_path / "turned.jpg").convert("RGB")
    turned = plain.transpose(Image.Transpose.ROTATE_270)
    made = np.asarray(unstarve.imread(tmp_path / "turned.jpg"))
    assert np.array_equal(made, np.asarray(turned)[:, :, ::-1])
    # As Pillow, which leaves it to the script.
    assert unstarve.open_image(tmp_path / "turned.jpg").size == plain.size
