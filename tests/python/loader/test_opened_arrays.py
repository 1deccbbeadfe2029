"""Images that OpenCV reads for albumentations: the same draws, the same values to the bit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
import unstarve
from made_photos import make_photos
from PIL import Image
from torch.utils import data
from unstarve.engine import opened_image
from unstarve.engine.arrays import albumented, reading
from unstarve.engine.opening_view import SWITCH, reads_arrays

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # it would ask the network for a newer one
import albumentations as albu
from albumentations.pytorch import ToTensorV2

cv2.setNumThreads(0)  # its threads would outlive a test
WORKERS = {"num_workers": 1, "batch_size": 4}


class Photos(data.Dataset[Any]):  # type: ignore[misc]
    """As people write it."""

    def __init__(self, root: Path, transform: Any) -> None:
        self.paths = sorted(root.iterdir())
        self.transform = transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        image = cv2.cvtColor(cv2.imread(str(self.paths[index])), cv2.COLOR_BGR2RGB)
        return self.transform(image=image)["image"], index


class TurnedByHand(Photos):
    def __getitem__(self, index: int) -> Any:
        image = cv2.imread(str(self.paths[index]))[..., ::-1]
        image = image[:, :, ::-1]
        return self.transform(image=image[:, :, ::-1])["image"], index


class OpenedByPillow(Photos):
    def __getitem__(self, index: int) -> Any:
        image = np.array(Image.open(self.paths[index]).convert("RGB"))
        if self.transform:
            image = self.transform(image=image)["image"]
        return image, index


class OpenedBefore(Photos):
    def __getitem__(self, index: int) -> Any:
        picture = unstarve.open_image(self.paths[index]).convert("RGB")
        label = np.array([index])
        image = np.asarray(picture)
        return self.transform(image=image)["image"], label


class WithMasksAndBoxes(Photos):
    def __getitem__(self, index: int) -> Any:
        image = cv2.imread(str(self.paths[index]), cv2.IMREAD_COLOR)
        height, width = image.shape[:2]
        mask = np.arange(height * width, dtype=np.uint8).reshape(height, width)
        boxes = [[5, 6, 50, 40], [20, 10, 60, 60]]
        made = self.transform(image=image, mask=mask, bboxes=boxes, labels=[1, 2])
        return made["image"], made["mask"], made["bboxes"], made["labels"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("photos"), 90, 70)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All is exchanged in this process as in a worker, and nothing is compared any more: each
    image's part that the engine decodes, its width and height."""
    for owner, name, make in [*albumented.look(), *reading.look()]:
        monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    monkeypatch.setattr(reading, "_process", reading._Process())
    monkeypatch.setattr(reading._process, "left_to_compare", _Never())
    monkeypatch.setattr(albumented._library, "left_to_compare", _Never())
    monkeypatch.setattr(albumented._library, "makes_views", False)
    sizes: list[Any] = []
    original = opened_image.by_engine

    def by_engine(encoded: bytes, cut: Any) -> Any:
        sizes.append(cut.size)
        return original(encoded, cut)

    monkeypatch.setattr(opened_image, "by_engine", by_engine)
    return sizes


class _Never(dict[Any, Any]):
    def setdefault(self, key: Any, default: Any = None) -> int:
        return 0


def by_both(dataset: Any) -> Iterator[tuple[Any, Any]]:
    """What torch's loader makes and what ours makes, in batches and then value by value."""
    both = [cls(dataset, **WORKERS) for cls in (data.DataLoader, unstarve.DataLoader)]
    yield from zip(*both, strict=True)


def to_tensor() -> list[Any]:
    return [albu.Normalize(), ToTensorV2()]


def composed(*parts: Any, **options: Any) -> Any:
    return albu.Compose(list(parts), seed=7, **options)


COMPOSITIONS: dict[str, Callable[[], Any]] = {
    "crop, resized": lambda: composed(
        albu.RandomResizedCrop(size=(40, 48)), albu.HorizontalFlip(p=0.5), *to_tensor()
    ),
    "crop": lambda: composed(albu.RandomCrop(33, 35), albu.VerticalFlip(p=0.5), *to_tensor()),
    "from the middle": lambda: composed(albu.CenterCrop(31, 40), albu.ToGray(p=0.3), *to_tensor()),
    "flips first": lambda: composed(
        albu.HorizontalFlip(p=0.5), albu.VerticalFlip(p=1), albu.RandomCrop(33, 35), *to_tensor()
    ),
    "padding": lambda: composed(albu.PadIfNeeded(64, 95), albu.RandomCrop(60, 95), *to_tensor()),
    "padding by the crop": lambda: composed(
        albu.RandomCrop(80, 80, pad_if_needed=True), *to_tensor()
    ),
    "resized": lambda: composed(albu.Resize(32, 32), albu.ColorJitter(p=0.5), *to_tensor()),
    "sides": lambda: composed(
        albu.SmallestMaxSize(50), albu.RandomCrop(48, 48), albu.GaussianBlur(p=0.5), *to_tensor()
    ),
    "the longer side": lambda: composed(
        albu.LongestMaxSize(50), albu.PadIfNeeded(50, 50), albu.CoarseDropout(p=0.5), *to_tensor()
    ),
    "turned": lambda: composed(
        albu.RandomSizedCrop((20, 60), (32, 32)),
        albu.RandomRotate90(p=0.5),
        albu.Affine(rotate=(-20, 20), p=0.5),
        *to_tensor(),
    ),
    "at times a crop": lambda: composed(
        albu.RandomCrop(60, 60, p=0.5), albu.Resize(32, 32), *to_tensor()
    ),
    "one of two": lambda: composed(
        albu.OneOf([albu.RandomCrop(40, 40), albu.RandomResizedCrop((40, 40))], p=1), *to_tensor()
    ),
    "within each other": lambda: composed(
        albu.Compose([albu.RandomCrop(40, 40), albu.HorizontalFlip()]), *to_tensor()
    ),
    "at times nothing": lambda: composed(
        albu.CenterCrop(70, 90), albu.RandomBrightnessContrast(), p=0.5
    ),
    "other numbers": lambda: composed(
        albu.RandomCrop(40, 40),
        albu.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.1), max_pixel_value=200, p=0.5),
    ),
    "by the image's own numbers": lambda: composed(
        albu.RandomCrop(40, 40), albu.Normalize(normalization="image_per_channel")
    ),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_values_are_those_of_torchs_loader(name: str, folder: Path, decoded: list[Any]) -> None:
    transform = COMPOSITIONS[name]
    paths = sorted(folder.iterdir())
    dataset = Photos(folder, transform())
    plain = transform()
    for index, path in enumerate(paths * 3):
        pixels = np.array(Image.open(path).convert("RGB"))
        image, expected = dataset[index % len(paths)][0], plain(image=pixels)["image"]
        ours, theirs = torch.as_tensor(image), torch.as_tensor(expected)
        assert (ours.dtype, ours.stride()) == (theirs.dtype, theirs.stride())
        assert torch.equal(ours, theirs)
    assert len(decoded) == 3 * len(paths)
    assert all(side > 0 for size in decoded for side in size)


def test_a_crop_decodes_a_crop(folder: Path, decoded: list[Any]) -> None:
    for crop in (albu.RandomCrop(30, 20), albu.CenterCrop(30, 20)):
        Photos(folder, composed(albu.HorizontalFlip(), crop))[0]
    assert decoded == [(20, 30)] * 2
    decoded.clear()
    dataset = Photos(folder, composed(albu.RandomResizedCrop((20, 20), scale=(0.1, 0.2))))
    for index in range(12):
        dataset[index]
    assert all(width * height < 0.22 * 102 * 70 for width, height in decoded)


@pytest.mark.parametrize("kind", [OpenedBefore, TurnedByHand])
def test_other_ways_to_an_array(kind: Any, folder: Path, decoded: list[Any]) -> None:
    dataset = kind(folder, composed(albu.CenterCrop(30, 20), *to_tensor()))
    plain = composed(albu.CenterCrop(30, 20), *to_tensor())
    for index, path in enumerate(dataset.paths):
        pixels = np.array(Image.open(path).convert("RGB"))
        image, label = dataset[index]
        assert torch.equal(image, plain(image=pixels)["image"])
        assert np.all(label == index)
    assert decoded == [(20, 30)] * 12


@pytest.mark.parametrize("kind", [Photos, OpenedByPillow])
def test_batches_of_worker_processes_are_torchs(kind: Any, folder: Path) -> None:
    dataset = kind(folder, COMPOSITIONS["crop, resized"]())
    loader = unstarve.DataLoader(dataset, **WORKERS)
    assert loader.explain().engine == "workers"
    assert any("albumentations" in note for note in loader.explain().notes)
    for (expected, _), (images, _) in by_both(dataset):
        assert torch.equal(images, expected)


def test_masks_and_boxes_go_along(folder: Path, decoded: list[Any]) -> None:
    boxes = albu.BboxParams("pascal_voc", label_fields=["labels"])

    def made() -> Any:
        crop = albu.RandomResizedCrop((40, 40), scale=(0.5, 1))
        return composed(crop, albu.HorizontalFlip(), bbox_params=boxes)

    dataset, plain = WithMasksAndBoxes(folder, made()), made()
    for index, path in enumerate(dataset.paths):
        pixels = np.asarray(Image.open(path).convert("RGB"))[:, :, ::-1]
        mask = np.arange(pixels.size // 3, dtype=np.uint8).reshape(pixels.shape[:2])
        given = {"mask": mask, "bboxes": [[5, 6, 50, 40], [20, 10, 60, 60]], "labels": [1, 2]}
        expected = plain(image=np.ascontiguousarray(pixels), **given)
        for own, name in zip(dataset[index], ("image", "mask", "bboxes", "labels"), strict=True):
            assert np.array_equal(own, expected[name])
    assert len(decoded) == 12


class TwoViews(Photos):
    def __getitem__(self, index: int) -> Any:
        image = cv2.imread(str(self.paths[index]))
        return self.transform(image=image)["image"], self.transform(image=image)["image"]


def test_an_image_of_several_views_is_decoded_once(folder: Path, decoded: list[Any]) -> None:
    def crop() -> Any:
        return composed(albu.RandomResizedCrop((20, 20), scale=(0.1, 0.2)))

    dataset, plain = TwoViews(folder, crop()), crop()
    for index, path in enumerate(dataset.paths):
        pixels = np.array(Image.open(path).convert("RGB"))[:, :, ::-1]
        for view in dataset[index]:
            assert np.array_equal(view, plain(image=np.ascontiguousarray(pixels))["image"])
    # Of the first image this was not known.
    assert decoded[1:] == [(90 + number, 70) for number in range(12)]


def test_files_of_other_kinds_are_soon_left_to_opencv(
    tmp_path: Path, decoded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("RGB", (40, 40)).save(tmp_path / "0.png")
    Image.new("RGB", (40, 40)).save(tmp_path / "1.jpg")
    dataset = Photos(tmp_path, composed(albu.CenterCrop(30, 30)))
    for _ in range(31):
        dataset[0]
    dataset[1]
    assert decoded == [(30, 30)]
    for _ in range(32):
        dataset[0]
    dataset[1]
    assert decoded == [(30, 30)]


def by_opencv(path: Path, transform: Any) -> Any:
    image = cv2.cvtColor(np.asarray(cv2.imread(str(path))), cv2.COLOR_BGR2RGB)
    return transform(image=image)["image"]


def test_opencv_reads_what_is_no_plain_jpeg(tmp_path: Path, decoded: list[Any]) -> None:
    values = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    picture = Image.fromarray(values)
    picture.convert("L").save(tmp_path / "0.jpg")
    picture.convert("CMYK").save(tmp_path / "1.jpg")
    picture.save(tmp_path / "2.png")
    turned = Image.Exif()
    turned[0x0112] = 6
    picture.save(tmp_path / "3.jpg", exif=turned)
    picture.save(tmp_path / "5.jpg", progressive=True)
    picture.save(tmp_path / "4.jpg")
    whole = (tmp_path / "4.jpg").read_bytes()
    (tmp_path / "4.jpg").write_bytes(whole[: len(whole) * 2 // 3])
    dataset = Photos(tmp_path, composed(albu.CenterCrop(30, 30)))
    for index, path in enumerate(dataset.paths):
        assert np.array_equal(dataset[index][0], by_opencv(path, dataset.transform))
    assert decoded == []
    dataset.paths = [tmp_path / "none.jpg"]
    with pytest.raises(cv2.error):  # of cvtColor, which was given None
        dataset[0]


def test_kinds_of_jpegs_have_opencvs_pixels(tmp_path: Path, decoded: list[Any]) -> None:
    values = np.random.default_rng(1).integers(0, 256, (41, 53, 3), dtype=np.uint8)
    picture = Image.fromarray(values)
    for number, sampling in enumerate((0, 1, 2)):
        picture.save(tmp_path / f"{number}.jpg", subsampling=sampling)
    dataset = Photos(tmp_path, composed(albu.CenterCrop(30, 30)))
    for index, path in enumerate(dataset.paths):
        assert np.array_equal(dataset[index][0], by_opencv(path, dataset.transform))
    assert decoded == [(30, 30)] * 3


def test_pixels_that_differ_are_noticed(
    folder: Path, decoded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(encoded: bytes, cut: Any) -> bytearray:
        width, height = cut.size
        return bytearray(3 * width * height)

    monkeypatch.setattr(opened_image, "by_engine", wrong)
    left: dict[Any, Any] = {}
    monkeypatch.setattr(reading._process, "left_to_compare", left)
    dataset = Photos(folder, composed(albu.CenterCrop(30, 30)))
    for index, path in enumerate(dataset.paths):
        assert np.array_equal(dataset[index][0], by_opencv(path, dataset.transform))
    assert list(left.values()) == [None]


def test_a_transform_of_ours_that_differs_is_noticed(
    folder: Path, decoded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    left: dict[Any, Any] = {}
    monkeypatch.setattr(albumented._library, "left_to_compare", left)

    class Wrong:
        def normalise_bytes(self, _bytes: Any, _mean: Any, _factor: Any, out: Any) -> None:
            out[:] = 1

    monkeypatch.setattr(albumented, "native", Wrong)
    dataset = Photos(folder, composed(albu.CenterCrop(30, 30), albu.Normalize()))
    plain = composed(albu.CenterCrop(30, 30), albu.Normalize())
    for index, path in enumerate(dataset.paths):
        pixels = np.asarray(Image.open(path).convert("RGB"))
        assert np.array_equal(
            dataset[index][0], plain.transforms[1].apply(plain.transforms[0](image=pixels)["image"])
        )
    assert left == {albu.CenterCrop: 0, albu.Normalize: None}


class Mirrored(albu.HorizontalFlip):  # type: ignore[misc]
    def apply(self, img: Any, **params: Any) -> Any:
        return np.zeros_like(img)


class Called(albu.HorizontalFlip):  # type: ignore[misc]
    def __call__(self, *given: Any, **data: Any) -> Any:
        return {**data, "image": np.ascontiguousarray(data["image"][::2])}


@pytest.mark.parametrize("kind", [Mirrored, Called])
def test_classes_of_the_script_get_pixels(kind: Any, folder: Path, decoded: list[Any]) -> None:
    dataset = Photos(folder, composed(kind(p=1), albu.CenterCrop(30, 30)))
    made, path = dataset[0][0], dataset.paths[0]
    assert np.array_equal(made, by_opencv(path, dataset.transform))
    assert (made.max() == 0) == (kind is Mirrored)
    # One that has a call of its own may do anything with what it is given.
    assert len(decoded) == (1 if kind is Mirrored else 0)


@pytest.mark.parametrize("where", ["class", "object", "call"])
def test_exchanged_methods_are_noticed(
    where: str, folder: Path, decoded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dark(_transform: Any, img: Any, **params: Any) -> Any:
        return np.zeros_like(img)

    if where == "class":
        monkeypatch.setattr(albu.HorizontalFlip, "apply", dark)
    flip = albu.HorizontalFlip(p=1)
    if where == "call":
        flip.get_params_dependent_on_data = lambda params, data: {"seen": data["image"].max()}
        flip._key2func["image"] = lambda img, seen, **params: img * 0 + (seen == 0)
    if where == "object":
        flip._key2func["image"] = lambda img, **params: dark(flip, img)
    made = Photos(folder, composed(flip, albu.CenterCrop(30, 30)))[0][0]
    assert made.max() == 0
    assert decoded == [(90, 70)]


def test_a_class_that_was_exchanged_before_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(albu.HorizontalFlip, "apply", lambda self, img, **params: img)
    monkeypatch.setattr(albumented, "_library", albumented._Library())
    albumented.look()
    assert albu.HorizontalFlip not in albumented._library.late
    assert albu.VerticalFlip in albumented._library.late


def test_a_composition_that_was_exchanged_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(albu.Compose, "__call__", lambda self, **data: data)
    assert albumented.look() == []


def test_other_versions_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reads_arrays()
    for version in ("1.4.24", "2.0.9", "unknown"):
        with monkeypatch.context() as other:
            other.setattr(albu, "__version__", version)
            assert not reads_arrays()
    monkeypatch.setenv(SWITCH, "0")
    assert not reads_arrays()


def test_functions_of_the_script_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [name for _, name, _ in reading.look()]
    assert names == ["imread", "cvtColor", "array", "asarray"]
    with monkeypatch.context() as other:
        other.setitem(sys.modules, "numba", sys)
        assert [name for _, name, _ in reading.look()] == names[:2]
    monkeypatch.setattr(cv2, "imread", lambda path: np.zeros((9, 9, 3), np.uint8))
    assert reading.look() == []


def test_an_image_that_is_kept_is_an_array(folder: Path, decoded: list[Any]) -> None:
    class Keeps(Photos):
        def __getitem__(self, index: int) -> Any:
            image = cv2.imread(str(self.paths[index]))
            self.last = image
            return self.transform(image=image)["image"], index

    dataset = Keeps(folder, composed(albu.CenterCrop(30, 30)))
    dataset[0]
    assert type(dataset.last) is np.ndarray and decoded == []
    dataset = Photos(folder, lambda image: {"image": type(image)})
    assert dataset[0][0] is np.ndarray
