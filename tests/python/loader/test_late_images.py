"""Images that are cut, resized and mirrored before anybody has decoded them: Pillow's, tensors."""

from __future__ import annotations

import copy
import io
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from made_photos import make_photos
from PIL import Image
from torch.utils import data
from torchvision import transforms as v1
from torchvision import tv_tensors
from torchvision.transforms import functional, v2
from unstarve.engine import late_tensors, opened_image
from unstarve.engine.cut import whole
from unstarve.engine.late_tensors import LateImage
from unstarve.engine.opened_image import OpenedImage

WORKERS = {"num_workers": 1, "batch_size": None}
#: Pillow's resizing is 2 from the engine's in a few values, torch's own too.
NEAR = 2

Kinds = Image.Resampling
Flips = Image.Transpose


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("photos"), 120, 90)


@pytest.fixture(autouse=True)
def as_begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    vars(opened_image.here).update(vars(opened_image.Here()))
    monkeypatch.setattr(tv_tensors, "wrap", late_tensors.wrap(tv_tensors.wrap))
    yield
    vars(opened_image.here).update(vars(opened_image.Here()))


def encoded_file(folder: Path, number: int = 0) -> bytes:
    return (folder / f"{number:02}.jpg").read_bytes()


def opened(folder: Path) -> tuple[Any, Any]:
    """The same image, ours and Pillow's."""
    encoded = encoded_file(folder)
    pillows = Image.open(io.BytesIO(encoded)).convert("RGB")
    return OpenedImage(encoded, pillows), pillows


def away(ours: Any, theirs: Any) -> int:
    ours, theirs = np.asarray(ours).astype(int), np.asarray(theirs).astype(int)
    assert ours.shape == theirs.shape
    return int(np.abs(ours - theirs).max())


CUTS: dict[str, Callable[[Any], Any]] = {
    "crop": lambda image: image.crop((10, 20, 50, 61)),
    "crop of a crop": lambda image: image.crop((10, 20, 90, 81)).crop((3, 5, 40, 50)),
    "crop, resize": lambda image: image.crop((10, 20, 90, 81)).resize((33, 41), Kinds.BILINEAR),
    "bicubic": lambda image: image.resize((50, 40), Kinds.BICUBIC),
    "without a kind": lambda image: image.resize((200, 150)),
    "resize, crop": lambda image: image.resize((60, 50), Kinds.BILINEAR).crop((7, 9, 40, 41)),
    "resize to the same": lambda image: image.resize(image.size).crop((1, 1, 30, 30)),
    "flip, crop": lambda image: image.transpose(Flips.FLIP_LEFT_RIGHT).crop((10, 20, 50, 61)),
    "flips": lambda image: (
        image.resize((60, 50), Kinds.BILINEAR)
        .transpose(Flips.FLIP_TOP_BOTTOM)
        .crop((5, 6, 50, 40))
        .transpose(Flips.FLIP_LEFT_RIGHT)
        .crop((1, 2, 30, 31))
    ),
    "copies": lambda image: image.copy().crop((10, 20, 50, 61)).convert("RGB").copy(),
    "functions": lambda image: functional.hflip(
        functional.crop(functional.resize(image, [70]), 5, 6, 40, 41)
    ),
}


@pytest.mark.parametrize("kind", CUTS)
def test_what_is_cut_is_what_pillow_cuts(kind: str, folder: Path) -> None:
    ours, pillows = opened(folder)
    cut = CUTS[kind](ours)
    assert type(cut) is OpenedImage and ours.encoded is not None
    expected = CUTS[kind](pillows)
    assert (cut.size, cut.width, cut.mode) == (expected.size, expected.width, "RGB")
    assert away(cut, expected) <= NEAR
    assert type(cut) is Image.Image
    assert away(ours, pillows) == 0, "the image itself stays as it is"


AT_ONCE: dict[str, Callable[[Any], Any]] = {
    "another kind": lambda image: image.resize((50, 40), Kinds.NEAREST),
    "with a box": lambda image: image.resize((50, 40), Kinds.BILINEAR, box=(3, 4, 80, 81)),
    "beyond its edge": lambda image: image.crop((-5, 0, 60, 50)),
    "by a quarter": lambda image: image.transpose(Flips.ROTATE_90),
    "rotated": lambda image: image.rotate(30),
    "grey": lambda image: image.convert("L"),
    "whole": lambda image: image,
    "mirrored alone": lambda image: image.transpose(Flips.FLIP_LEFT_RIGHT),
}


@pytest.mark.parametrize("kind", AT_ONCE)
def test_what_the_engine_does_not_do_is_pillows_to_the_bit(kind: str, folder: Path) -> None:
    ours, pillows = opened(folder)
    assert away(AT_ONCE[kind](ours), AT_ONCE[kind](pillows)) == 0


def test_a_second_resize_begins_with_the_pixels_of_the_first(folder: Path) -> None:
    ours, pillows = opened(folder)
    twice = [
        image.resize((70, 60), Kinds.BILINEAR).resize((30, 31), Kinds.BILINEAR)
        for image in (ours, pillows)
    ]
    assert away(*twice) <= NEAR


@pytest.mark.parametrize(
    "wrong",
    [
        lambda image: image.crop((5, 5, 2, 9)),
        lambda image: image.resize((0, 4)),
        lambda image: image.crop("here"),
        lambda image: image.resize((9, 9), wrongly=True),
        lambda image: image.transpose(),
    ],
)
def test_errors_are_pillows(wrong: Callable[[Any], Any], folder: Path) -> None:
    ours, pillows = opened(folder)
    with pytest.raises((TypeError, ValueError)) as expected:
        wrong(pillows)
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value))):
        wrong(ours)


def test_the_first_cuts_are_compared_and_a_difference_leaves_all_to_pillow(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def wrong(encoded: bytes, cut: Any) -> bytearray:
        made.append(cut)
        return bytearray(3 * cut.size[0] * cut.size[1])

    monkeypatch.setattr(opened_image, "by_engine", wrong)
    for _ in range(3):
        ours, pillows = opened(folder)
        assert away(CUTS["crop"](ours), CUTS["crop"](pillows)) == 0
    assert len(made) == 1


class Photos(data.Dataset[Any]):  # type: ignore[misc]
    """`make` makes a sample of an image as it is opened; what is drawn follows from the index."""

    def __init__(self, root: Path, make: Callable[[Any], Any], convert: bool = True) -> None:
        self.paths, self.make, self.convert = sorted(root.iterdir()), make, convert

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        torch.manual_seed(index)
        image = Image.open(self.paths[index])
        return self.make(image.convert("RGB") if self.convert else image)


def both(dataset: Any) -> Iterator[tuple[Any, Any]]:
    """Samples of torch's loader and of ours."""
    yield from zip(
        data.DataLoader(dataset, **WORKERS), unstarve.DataLoader(dataset, **WORKERS), strict=True
    )


def by_functions(image: Any) -> Any:
    kind = type(image).__name__
    image = functional.resize(image, [60])
    top, left, height, width = v1.RandomCrop.get_params(image, (48, 48))
    if torch.rand(()) < 0.5:
        image = functional.hflip(image)
    image = functional.crop(image, top, left, height, width)
    return functional.pil_to_tensor(image), kind


@pytest.mark.parametrize("convert", [True, False])
def test_a_data_set_that_calls_functions_gets_cuts(folder: Path, convert: bool) -> None:
    for (expected, _), (image, kind) in both(Photos(folder, by_functions, convert)):
        assert away(image, expected) <= NEAR
        assert kind == ("OpenedImage" if convert else "JpegImageFile")


JOINT = v2.Compose(
    [
        v2.RandomResizedCrop((40, 48), antialias=True),
        v2.RandomHorizontalFlip(),
        v2.ToDtype({tv_tensors.Image: torch.float32, "others": None}, scale=True),
        v2.Normalize((0.4, 0.5, 0.6), (0.2, 0.3, 0.4)),
        v2.ToPureTensor(),
    ]
)
AS_PILLOW_HAS_IT = v2.Compose(
    [v2.ToImage(), v2.RandomResizedCrop((40, 48), antialias=True), v2.ToDtype(torch.float32)]
)
HALVES = v2.Compose(
    [v2.RandomCrop((40, 48)), v2.ToDtype(torch.float32, scale=True), v2.RandomHorizontalFlip(1.0)]
)
DETECTION = v2.Compose(
    [
        v2.ScaleJitter((80, 80), antialias=True),
        v2.RandomCrop((64, 64), pad_if_needed=True, fill={tv_tensors.Image: 124, "others": 0}),
        v2.RandomVerticalFlip(),
        v2.RandomIoUCrop(),
        v2.SanitizeBoundingBoxes(),
    ]
)


def with_mask_and_boxes(transform: Any) -> Callable[[Any], Any]:
    def make(picture: Any) -> Any:
        image = tv_tensors.Image(picture)
        kind = type(image).__name__
        height, width = image.shape[-2:]
        found = torch.tensor([[5.0, 6.0, 50.0, 60.0], [30.0, 20.0, 100.0, 80.0]])
        target = {
            "masks": tv_tensors.Mask(torch.arange(2 * height * width).view(2, height, width) % 7),
            "boxes": tv_tensors.BoundingBoxes(found, format="XYXY", canvas_size=(height, width)),
            "labels": torch.tensor([1, 2]),
        }
        image, target = transform(image, target)
        return image, dict(target), kind, type(image).__name__

    return make


@pytest.mark.parametrize("transform", [JOINT, HALVES, DETECTION])
def test_masks_and_boxes_go_with_the_image(transform: Any, folder: Path) -> None:
    values = 255 * (0.2 if transform is JOINT else 1)
    for theirs, ours in both(Photos(folder, with_mask_and_boxes(transform))):
        image, target, kind, kind_behind = ours
        assert kind == "LateImage"
        assert kind_behind == theirs[3] and image.dtype == theirs[0].dtype
        assert image.shape == theirs[0].shape
        scale = values if image.dtype == torch.float32 else 1
        assert float(((image - theirs[0]) * scale).abs().max() if scale > 1 else 0) <= NEAR + 0.1
        if image.dtype == torch.uint8:
            assert away(image, theirs[0]) <= NEAR
        for name, expected in theirs[1].items():
            assert torch.equal(target[name], expected), name


JITTER = v2.Compose(
    [
        v2.RandomPhotometricDistort(p=0.9),
        v2.ColorJitter(0.4, 0.5, 0.6, 0.1),
        v2.RandomCrop((40, 40)),
    ]
)


def test_colours_change_as_torchvision_changes_them(folder: Path) -> None:
    for theirs, ours in both(Photos(folder, with_mask_and_boxes(JITTER))):
        # In a chain of changes each may be 1 away from torchvision's.
        assert away(ours[0], theirs[0]) <= 6
        far = np.abs(np.asarray(ours[0]).astype(int) - np.asarray(theirs[0]).astype(int))
        assert float((far > NEAR).mean()) < 0.01
        assert torch.equal(ours[1]["masks"], theirs[1]["masks"])


def test_a_composition_may_make_the_tensor_itself(folder: Path) -> None:
    def make(picture: Any) -> Any:
        height, width = picture.height, picture.width
        mask = tv_tensors.Mask(torch.arange(height * width).view(1, height, width))
        return AS_PILLOW_HAS_IT(picture, mask)

    for (theirs, their_mask), (ours, mask) in both(Photos(folder, make)):
        assert ours.dtype == torch.float32 and away(ours, theirs) <= NEAR
        assert torch.equal(mask, their_mask)


def late(folder: Path) -> tuple[Any, Any]:
    """The same image as a tensor, ours and torchvision's."""
    ours, pillows = opened(folder)
    made = late_tensors.late_of(ours)
    assert type(made) is LateImage
    return made, tv_tensors.Image(pillows)


def saved(image: Any) -> Any:
    file = io.BytesIO()
    torch.save(image, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "sums": lambda image: image.float().sum(),
    "two": lambda image: torch.stack([image, image]),
    "parts": lambda image: image[:, 3:9, 2:4],
    "arithmetic": lambda image: image // 2,
    "moved": lambda image: image.to(torch.float32),
    "a copy": lambda image: image.clone(),
    "a deep copy": copy.deepcopy,
    "pickled": lambda image: pickle.loads(pickle.dumps(image)),
    "collated": lambda image: data.default_collate([image, image]),
    "plain": lambda image: image.as_subclass(torch.Tensor),
    "padded": lambda image: v2.functional.pad(image, [1, 2, 3, 4], fill=9),
    "grey": v2.functional.rgb_to_grayscale,
    "to Pillow": lambda image: torch.from_numpy(np.array(v2.functional.to_pil_image(image))),
    "wrapped": lambda image: tv_tensors.wrap(image.as_subclass(torch.Tensor), like=image),
    "saved": saved,
}


@pytest.mark.parametrize("kind", OPERATIONS)
def test_whatever_wants_its_pixels_gets_torchvisions(kind: str, folder: Path) -> None:
    ours, theirs = map(OPERATIONS[kind], late(folder))
    assert type(ours) is type(theirs) and ours.dtype == theirs.dtype
    assert torch.equal(ours.as_subclass(torch.Tensor), theirs.as_subclass(torch.Tensor))


def test_it_is_an_image_before_it_is_decoded(folder: Path) -> None:
    ours, theirs = late(folder)
    assert isinstance(ours, tv_tensors.Image)
    assert {tv_tensors.Image: 7}[type(ours)] == 7 and type(ours) == tv_tensors.Image  # noqa: E721
    for name in ("shape", "dtype", "ndim", "device"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert (ours.size(), ours.numel(), ours.dim()) == (theirs.size(), theirs.numel(), 3)
    assert v2.functional.get_size(ours) == v2.functional.get_size(theirs)
    assert ours._pixels is None
    assert ours.tolist() == theirs.tolist() and ours._pixels is not None


def test_it_is_written_to_as_others_are(folder: Path) -> None:
    ours, theirs = late(folder)
    for image in (ours, theirs):
        image[:, 0] = 3
        image.add_(1)
    assert torch.equal(late_tensors.decoded(ours), theirs)
    assert away(v2.functional.crop(ours, 0, 0, 9, 9), v2.functional.crop(theirs, 0, 0, 9, 9)) == 0


def test_many_views_of_an_image_are_made_of_pixels_that_are_decoded_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, pillows = opened(folder)
    files = [ours.file_for_view() for _ in range(4)]
    assert [file[:2] for file in files] == [b"\xff\xd8"] * 2 + [b"BM"] * 2
    again, _ = opened(folder)
    assert again.file_for_view()[:2] == b"BM", "from then on at once"
    cut = whole(pillows.size).cropped(3, 4, 50, 51)
    assert cut is not None
    made = opened_image.pixels_of(again.file_for_view(), cut)
    assert bytes(made) == pillows.crop((3, 4, 53, 55)).tobytes()
    assert ours.crop((1, 2, 30, 40)).file_for_view() is None, "no composition is given a part"
