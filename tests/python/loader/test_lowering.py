"""What of torchvision's data sets and transforms the native engine takes over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Subset
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.datasets.folder import default_loader
from torchvision.transforms import v2
from unstarve.lowering.composition import read_transform
from unstarve.lowering.decision import lower
from unstarve.lowering.plan import Colour, Erasing, Geometry, Padding, Plan

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BICUBIC = v1.InterpolationMode.BICUBIC


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six small JPEGs in two classes."""
    for i in range(6):
        path = tmp_path / "ba"[i % 2] / f"{i}.jpg"
        path.parent.mkdir(exist_ok=True)
        Image.new("RGB", (20 + i, 30), (40 * i, 10, 20)).save(path)
    return tmp_path


def plan_of(*parts: Any, library: Any = v1) -> Plan:
    plan, verdicts = read_transform(library.Compose(list(parts)))
    assert plan is not None, verdicts
    return plan


def obstacle_to(*parts: Any) -> str:
    plan, verdicts = read_transform(v1.Compose(list(parts)))
    assert plan is None
    return next(verdict.obstacle for verdict in verdicts if verdict.obstacle)


def test_the_usual_training_transform() -> None:
    plan = plan_of(
        v1.RandomResizedCrop((160, 224), scale=(0.2, 0.9), ratio=(0.5, 2), interpolation=BICUBIC),
        v1.RandomHorizontalFlip(),
        v1.ColorJitter(0.4, 0.3, (0.5, 1.5), 0.1),
        v1.RandomGrayscale(0.2),
        v1.ToTensor(),
        v1.Normalize(MEAN, STD),
        v1.RandomErasing(0.25, value=0.5),
    )
    crop = Geometry("random_resized_crop", (160, 224), 0, (0.2, 0.9), (0.5, 2.0), "bicubic")
    assert plan == Plan(
        crop,
        horizontal_flip=0.5,
        colour=[
            Colour("jitter", 1.0, (0.6, 1.4), (0.7, 1.3), (0.5, 1.5), (-0.1, 0.1)),
            Colour("greyscale", 0.2),
        ],
        dtype="float32",
        scale_to_unit=True,
        mean=MEAN,
        std=STD,
        erasing=Erasing(0.25, (0.02, 0.33), (0.3, 3.3), (0.5, 0.5, 0.5)),
    )


def test_the_same_in_v2_nested_and_in_a_sequential() -> None:
    plan = plan_of(
        v2.ToImage(),
        torch.nn.Sequential(v2.RandomResizedCrop(64, antialias=True), v2.RandomVerticalFlip(0.3)),
        v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]),
        v2.RandomErasing(value="random"),
        library=v2,
    )
    assert plan.geometry == Geometry("random_resized_crop", (64, 64))
    assert plan.vertical_flip == 0.3
    assert (plan.scale_to_unit, plan.scale_by_reciprocal, plan.is_tv_image) == (True, True, True)
    assert plan.erasing == Erasing(0.5, (0.02, 0.33), (0.3, 3.3), None)


@pytest.mark.parametrize("library", [v1, v2])
def test_resize_and_centre_crop(library: Any) -> None:
    plan = plan_of(library.Resize(256), library.CenterCrop(224), library.PILToTensor())
    assert plan.geometry == Geometry("resize_center_crop", (224, 224), resize_short=256)
    assert (plan.dtype, plan.scale_to_unit) == ("uint8", False)
    # The crop may come after the conversion: it takes pixels as they are.
    later = plan_of(library.Resize([256]), v1.ToTensor(), library.CenterCrop((224, 224)))
    assert later.geometry == plan.geometry
    assert plan_of(library.Resize((8, 9)), v1.ToTensor()).geometry == Geometry("resize", (8, 9))
    alone = plan_of(library.CenterCrop(32), v1.ToTensor()).geometry
    assert alone == Geometry("center_crop", (32, 32))


@pytest.mark.parametrize("library", [v1, v2])
def test_crops_of_what_resize_made(library: Any) -> None:
    """A flip may lie between: for a box anywhere it does not matter."""
    flip = library.RandomHorizontalFlip()
    plan = plan_of(library.Resize(256), flip, library.RandomCrop(224), library.PILToTensor())
    assert plan.geometry == Geometry("resize_random_crop", (224, 224), resize_short=256)
    assert plan.horizontal_flip == 0.5
    exact = library.Resize((20, 30), interpolation=BICUBIC)
    kinds = {library.RandomCrop: "resize_random_crop", library.CenterCrop: "resize_center_crop"}
    for crop, kind in kinds.items():
        geometry = plan_of(exact, crop((20, 16)), library.PILToTensor()).geometry
        assert (geometry.kind, geometry.size, geometry.resize_to) == (kind, (20, 16), (20, 30))
        assert geometry.interpolation == "bicubic"


@pytest.mark.parametrize("library", [v1, v2])
def test_random_crops_with_padding_around_them(library: Any) -> None:
    flip, last = library.RandomHorizontalFlip(), library.PILToTensor()
    geometry = plan_of(library.RandomCrop(32, padding=4), flip, last).geometry
    assert geometry == Geometry("random_crop", (32, 32), padding=Padding((4, 4, 4, 4)))
    geometry = plan_of(flip, library.RandomCrop((8, 16), (1, 2), True), last).geometry
    assert geometry == Geometry(
        "random_crop", (8, 16), padding=Padding((1, 2, 1, 2)), pads_if_needed=True
    )
    for resize in (library.Resize(32), library.Resize((32, 40))):
        geometry = plan_of(resize, library.RandomCrop(32, (1, 2, 3, 4)), last).geometry
        assert geometry.kind == "resize_random_crop"
        assert geometry.padding == Padding((1, 2, 3, 4))


@pytest.mark.parametrize("library", [v1, v2])
def test_colours_that_are_applied_at_times(library: Any) -> None:
    parts = [library.ColorJitter(0.4), library.RandomGrayscale(0.5)]
    applied = [library.RandomApply([part], p=0.8) for part in parts]
    plan = plan_of(library.RandomResizedCrop(8, antialias=True), *applied, library.PILToTensor())
    assert plan.colour == [Colour("jitter", 0.8, (0.6, 1.4)), Colour("greyscale", 0.4)]


def test_flips_add_up_and_erasing_is_normalised() -> None:
    plan = plan_of(
        v1.RandomHorizontalFlip(1.0),
        v1.Resize((8, 8)),
        v1.ToTensor(),
        v1.RandomHorizontalFlip(0.25),
        v1.RandomErasing(value=[0.0, 0.5, 1.0]),
        v1.Normalize([0.5], [0.25]),
    )
    assert plan.horizontal_flip == 0.75
    assert plan.erasing is not None and plan.erasing.value == (-2.0, 0.0, 2.0)


def test_other_floating_point_types_go_by_float32() -> None:
    resize = [v2.ToImage(), v2.Resize((8, 8), antialias=True)]
    to_float = v2.ToDtype(torch.float32, scale=True)
    plan = plan_of(*resize, to_float, v2.Normalize(MEAN, STD), v2.ToDtype(torch.bfloat16))
    assert (plan.dtype, plan.scale_to_unit, plan.mean) == ("bfloat16", True, MEAN)
    assert "float16" in obstacle_to(*resize, v2.ToDtype(torch.float16, scale=True))
    unscaled = plan_of(*resize, v2.ToDtype(torch.float32))
    assert (unscaled.dtype, unscaled.scale_to_unit) == ("float32", False)
    converted = plan_of(
        v1.PILToTensor(), v1.Resize((8, 8), antialias=True), v1.ConvertImageDtype(torch.float32)
    )
    assert (converted.scale_to_unit, converted.scale_by_reciprocal) == (True, False)


class MyFlip(v1.RandomHorizontalFlip):  # type: ignore[misc]
    pass


CROP = v1.RandomResizedCrop(8)
JITTER = v1.ColorJitter(0.5)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([CROP, MyFlip(), v1.ToTensor()], "subclass of RandomHorizontalFlip"),
        ([CROP, v1.ToTensor(), v1.Lambda(lambda x: -x)], "not among"),
        ([CROP, v1.ToTensor(), abs], "not among"),
        ([v1.RandomRotation(8), v1.ToTensor()], "before the image has its size"),
        ([CROP, v1.RandomRotation(8, expand=True), v1.ToTensor()], "enlarges"),
        ([v1.RandomAffine(8), v1.ToTensor()], "before the image has its size"),
        ([CROP, v1.RandomAffine(8, center=(1, 2)), v1.ToTensor()], "another place"),
        ([CROP, v1.RandomAffine(8, shear=90), v1.ToTensor()], "hardly anything is left"),
        ([CROP, v1.RandomOrder([JITTER]), v1.ToTensor()], "not among"),
        ([v1.RandomPerspective(), v1.ToTensor()], "before the image has its size"),
        ([v1.RandomCrop(8, padding=2, fill=300), v1.ToTensor()], "fill=300"),
        ([v1.RandomCrop(8, padding=2, fill=0.5), v1.ToTensor()], "fill=0.5"),
        ([v1.RandomCrop(8, 4, padding_mode="reflect"), v1.ToTensor()], "around a crop"),
        ([v1.RandomCrop(8, 1, True, 0, "symmetric"), v1.ToTensor()], "pad_if_needed"),
        ([v1.RandomCrop(8, padding=8), v1.ToTensor()], "around a crop of 8 x 8"),
        ([v1.Resize(4), v1.RandomCrop(9, 4, padding_mode="reflect"), v1.ToTensor()], "4 pixels"),
        ([v1.Pad(2), v1.RandomResizedCrop(8), v1.ToTensor()], "padding before"),
        ([v1.Pad(2), v1.CenterCrop(8), v1.ToTensor()], "padding before"),
        ([v1.Resize(9), v1.Pad(2), v1.CenterCrop(8), v1.ToTensor()], "padding before"),
        ([v1.Pad(2), v1.RandomCrop(8, padding=1), v1.ToTensor()], "second padding"),
        ([v1.Pad(2), v1.ToTensor()], "one size"),
        ([CROP, v1.Pad(2), v1.RandomCrop(8), v1.ToTensor()], "what is not resized"),
        ([CROP, v1.Pad(2), v1.CenterCrop(9), v1.ToTensor()], "another change of size"),
        ([CROP, v1.Pad((1, 0, 2, 0)), v1.RandomHorizontalFlip(), v1.ToTensor()], "side to side"),
        ([CROP, v1.Pad(2), v1.Pad(1, 5), v1.ToTensor()], "another kind"),
        ([CROP, v1.Pad(8, padding_mode="reflect"), v1.ToTensor()], "around 8 x 8"),
        ([CROP, v1.Pad(-1), v1.ToTensor()], "below zero"),
        ([CROP, JITTER, v1.Pad(1), v1.ToTensor()], "padding after a change of colours"),
        ([CROP, v1.ToTensor(), v1.Pad(1, 1), v1.RandomErasing()], "zeros of bytes"),
        ([CROP, v1.ToTensor(), v1.Normalize(MEAN, STD), v1.Pad(1)], "zeros of bytes"),
        ([v1.Resize(8), v1.ToTensor(), v1.RandomCrop(8, 1, fill=1)], "zeros of bytes"),
        (
            [v1.Resize(8), v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomCrop(8, 1)],
            "zeros of bytes",
        ),
        ([CROP, v1.PILToTensor(), v1.Pad(1, (1, 2, 3))], "one number"),
        (
            [v1.RandomHorizontalFlip(), v1.RandomCrop(8, (1, 0, 2, 0)), v1.ToTensor()],
            "differs from side to side",
        ),
        ([JITTER, v1.RandomCrop(8), v1.ToTensor()], "before the image has its size"),
        ([v1.Resize(9), v1.RandomCrop((10, 2)), v1.ToTensor()], "crop of 10 pixels"),
        ([v1.Resize((9, 20)), v1.CenterCrop(10), v1.ToTensor()], "crop of 10 pixels"),
        ([v1.Resize((9, 9)), JITTER, v1.RandomCrop(8), v1.ToTensor()], "change of colours"),
        ([CROP, v1.RandomCrop(4), v1.ToTensor()], "another change of size"),
        ([CROP, v1.RandomApply([JITTER, CROP]), v1.ToTensor()], "RandomApply"),
        ([CROP, v1.RandomApply([v1.RandomOrder([JITTER])]), v1.ToTensor()], "RandomApply"),
        ([CROP, v1.GaussianBlur(23), v1.ToTensor()], "kernel_size"),
        ([v1.RandomResizedCrop(8, interpolation=v1.InterpolationMode.NEAREST)], "nearest"),
        ([v1.PILToTensor(), v1.Resize((8, 8), antialias=False)], "antialias"),
        ([v1.Resize(8, max_size=9), v1.CenterCrop(8)], "max_size"),
        ([v1.Resize(8), v1.ToTensor()], "different shapes"),
        ([v1.Resize(8), v1.CenterCrop(9), v1.ToTensor()], "after Resize"),
        ([v1.Resize(9), v1.RandomHorizontalFlip(), v1.CenterCrop(8)], "between"),
        ([v1.RandomHorizontalFlip(), v1.Resize(9), v1.CenterCrop(8)], "before Resize"),
        ([CROP, v1.CenterCrop(4), v1.ToTensor()], "another change of size"),
        ([CROP, CROP, v1.ToTensor()], "second change"),
        ([JITTER, CROP, v1.ToTensor()], "before the image has its size"),
        ([CROP, v1.ToTensor(), JITTER], "floating-point"),
        ([v1.ToTensor(), v1.Resize((8, 8))], "floating-point"),
        ([CROP, v1.Grayscale(), v1.ToTensor()], "1 channel"),
        ([CROP], "PIL image"),
        ([v1.ToTensor()], "one size"),
        ([CROP, v1.PILToTensor(), v1.Normalize(MEAN, STD)], "uint8"),
        ([CROP, v1.ToTensor(), v1.Normalize(MEAN[:2], STD)], "3 channels"),
        ([CROP, v1.ToTensor(), v1.Normalize(MEAN, (0, 1, 1))], "deviation"),
        ([CROP, v1.PILToTensor(), v1.RandomErasing()], "floating-point"),
        ([CROP, v1.ToTensor(), v1.RandomErasing(), v1.RandomHorizontalFlip()], "RandomErasing"),
        ([CROP, v1.ToTensor(), v1.RandomErasing(value="random"), v1.Normalize(MEAN, STD)], "noise"),
    ],
)
def test_what_stays_python_and_why(parts: list[Any], why: str) -> None:
    assert why in obstacle_to(*parts)


def test_antialias_means_nothing_for_pil_images() -> None:
    assert plan_of(v1.Resize((8, 8), antialias=False), v1.ToTensor()).geometry.size == (8, 8)


def test_hooks_and_exchanged_methods_are_seen() -> None:
    hooked = v1.RandomHorizontalFlip()
    hooked.register_forward_hook(lambda *_: None)
    assert "hook" in obstacle_to(CROP, hooked, v1.ToTensor())
    exchanged = v1.RandomHorizontalFlip()
    exchanged.forward = lambda image: image
    assert "exchanged method" in obstacle_to(CROP, exchanged, v1.ToTensor())


TRANSFORM = v1.Compose([CROP, v1.ToTensor()])


def parts_of(dataset: Any, **arguments: Any) -> dict[str, str]:
    lowering = lower(DataLoader(dataset, **arguments))
    assert lowering.work is None
    return {part.what: part.why for part in lowering.parts if not part.native}


def test_image_folder_its_list_and_its_subsets(folder: Path) -> None:
    dataset = datasets.ImageFolder(str(folder), TRANSFORM)
    dataset.samples.reverse()
    work = lower(DataLoader(dataset)).work
    assert work is not None and work.samples == dataset.samples
    assert work.native_indices([0, -1]) == [0, 5]
    with pytest.raises(IndexError):
        work.native_indices([6])
    inner = Subset(dataset, [5, 3, 1])
    work = lower(DataLoader(Subset(inner, torch.tensor([2, 0])))).work
    assert work is not None and work.native_indices([0, 1]) == [1, 5]


def test_a_dataset_folder_that_reads_as_image_folder_does(folder: Path) -> None:
    read = (default_loader, (".jpg",), TRANSFORM)
    work = lower(DataLoader(datasets.DatasetFolder(str(folder), *read))).work
    assert work is not None
    assert work.samples == datasets.ImageFolder(str(folder), TRANSFORM).samples


def test_a_changed_list_is_other_work(folder: Path) -> None:
    dataset = datasets.ImageFolder(str(folder), TRANSFORM)
    first = lower(DataLoader(dataset)).work
    second = lower(DataLoader(dataset)).work
    assert first is not None and second is not None and first.is_same(second)
    dataset.samples[2] = (dataset.samples[2][0], 1 - dataset.samples[2][1])
    third = lower(DataLoader(dataset)).work
    assert third is not None and not first.is_same(third)


class MyFolder(datasets.ImageFolder):  # type: ignore[misc]
    pass


def test_data_sets_that_stay_python(folder: Path) -> None:
    root = str(folder)
    assert "subclass" in parts_of(MyFolder(root, TRANSFORM))["data set MyFolder"]
    assert "not a torchvision" in parts_of([1, 2])["data set list"]
    own = datasets.ImageFolder(root, TRANSFORM, loader=Image.open)
    assert "loader" in parts_of(own)["files"]
    target = datasets.ImageFolder(root, TRANSFORM, target_transform=str)
    assert "target_transform" in parts_of(target)["labels"]
    assert "one size" in parts_of(datasets.ImageFolder(root))["the composition as a whole"]
    dataset = datasets.ImageFolder(root, TRANSFORM)
    assert "collate_fn" in parts_of(dataset, collate_fn=list)["batches"]
    assert "worker_init_fn" in parts_of(dataset, num_workers=1, worker_init_fn=id)["batches"]
    Image.new("RGB", (9, 9)).save(folder / "a" / "x.ppm")
    assert "x.ppm" in parts_of(datasets.ImageFolder(root, TRANSFORM))["files"]
