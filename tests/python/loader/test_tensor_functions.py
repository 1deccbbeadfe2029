"""torchvision's functions between bytes and numbers, as worker processes have them: to the bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from made_photos import make_photos
from PIL import Image
from torch.utils import data
from torchvision import tv_tensors
from torchvision.transforms import _functional_tensor as tensors
from torchvision.transforms import functional, v2
from unstarve.engine import tensor_functions

MEAN, STD = (0.485, 0.456, 0.406), [0.229, 0.224, 0.225]


def exchanged() -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """torchvision's and ours, by their names; nothing is put into torchvision's place."""
    return {
        name: (getattr(owner, name), make(getattr(owner, name)))
        for owner, name, make in tensor_functions.functions()
    }


def colours(height: int = 31, width: int = 45) -> Any:
    return np.random.default_rng(3).integers(0, 256, (height, width, 3), dtype=np.uint8)


def images() -> list[Any]:
    """Of three channels, as they lie in memory after whatever came before."""
    by_pixel = torch.as_tensor(colours()).permute(2, 0, 1)
    return [by_pixel, by_pixel.contiguous(), by_pixel[:, 3:, 4:], by_pixel.contiguous()[:, ::2]]


def check_same(made: Any, expected: Any) -> None:
    assert type(made) is type(expected) and made.dtype is expected.dtype
    assert tensor_functions._lie_alike(made, expected) and torch.equal(made, expected)


def test_pictures_and_arrays_become_the_same_tensors() -> None:
    theirs, ours = exchanged()["to_tensor"]
    picture = Image.fromarray(colours())
    # More than are compared.
    for given in [picture, colours()] * 4 + [
        picture.convert("L"),
        picture.convert("RGBA"),
        colours()[:, ::2],
        colours()[:, :, 0],
        colours().astype(np.float32),
        Image.new("RGB", (1, 1)),
    ]:
        check_same(ours(given), theirs(given))


def test_bytes_become_the_same_numbers() -> None:
    theirs, ours = exchanged()["convert_image_dtype"]
    for given in images() * 4:
        for dtype in (torch.float32, torch.float64, torch.uint8, torch.int16):
            check_same(ours(given, dtype), theirs(given, dtype))
        check_same(ours(given), theirs(given))
    check_same(ours(images()[0][:1]), theirs(images()[0][:1]))


def test_normalised_numbers_are_the_same() -> None:
    theirs, ours = exchanged()["normalize"]
    for given in (image.float().div(255) for image in images() * 4):
        before = given.clone()
        check_same(ours(given, MEAN, STD), theirs(given, MEAN, STD))
        assert torch.equal(given, before)
        check_same(ours(given, mean=MEAN, std=STD), theirs(given, mean=MEAN, std=STD))
        for more in (([0.5], [0.5]), (torch.tensor(MEAN), torch.tensor(STD))):
            check_same(ours(given, *more), theirs(given, *more))
    check_same(ours(given.double(), MEAN, STD), theirs(given.double(), MEAN, STD))
    changed = given.clone()
    assert ours(changed, MEAN, STD, True) is changed
    check_same(changed, theirs(given, MEAN, STD))


def test_the_second_transforms_numbers_are_the_same() -> None:
    theirs = {"to_dtype": v2.functional.to_dtype_image, "normalize": v2.functional.normalize_image}
    for function, ours in tensor_functions.kernels().items():
        their = theirs[function.__name__]
        for given in images() * 4:
            if function is v2.functional.to_dtype:
                for dtype, scale in (
                    (torch.float32, True),
                    (torch.float32, False),
                    (torch.float16, True),
                    (torch.uint8, True),
                ):
                    check_same(ours.call(their, given, dtype, scale), their(given, dtype, scale))
            else:
                floats = given.float()
                check_same(ours.call(their, floats, MEAN, STD), their(floats, MEAN, STD))


def test_a_gradient_goes_through() -> None:
    _, ours = exchanged()["normalize"]
    given = torch.rand(3, 4, 5, requires_grad=True)
    ours(given, MEAN, STD).sum().backward()
    assert given.grad is not None


@pytest.mark.parametrize(
    "arguments",
    [
        (torch.zeros(3, 4, 5, dtype=torch.uint8), MEAN, STD),
        (torch.zeros(3, 4, 5), MEAN, (0.2, 0.0, 0.2)),
        (torch.zeros(3, 4, 5), MEAN, (0.2, 1e-60, 0.2)),  # 0 as a float32
        (torch.zeros(3, 4, 5), (1, 2), STD),
        (torch.zeros(4, 5), MEAN, STD),
    ],
)
def test_errors_are_torchvisions(arguments: Any) -> None:
    theirs, ours = exchanged()["normalize"]
    with pytest.raises(Exception) as expected:
        theirs(*arguments)
    for _ in range(5):
        with pytest.raises(expected.type, match=str(expected.value)[:20].replace("(", ".")):
            ours(*arguments)


def test_another_torchvision_that_gives_other_numbers_is_left_alone() -> None:
    def twice(tensor: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
        return 2 * tensors.normalize(tensor, mean, std, inplace)

    [make] = [make for _, name, make in tensor_functions.functions() if name == "normalize"]
    ours = make(twice)
    for _ in range(5):
        given = torch.rand(3, 4, 5)
        check_same(ours(given, MEAN, STD), twice(given, MEAN, STD))


class Photos(data.Dataset[Any]):  # type: ignore[misc]
    """As the references of segmentation write it, functions one after the other; and images that
    are turned, in the second transforms."""

    def __init__(self, root: Path) -> None:
        self.paths = sorted(root.iterdir())
        self.turned = v2.Compose(
            [v2.RandomRotation((90, 90)), v2.ToDtype(torch.float32, True), v2.Normalize(MEAN, STD)]
        )

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        image = Image.open(self.paths[index]).convert("RGB")
        from_bytes = functional.convert_image_dtype(functional.pil_to_tensor(image), torch.float)
        return [
            functional.normalize(functional.to_tensor(image), MEAN, STD),
            functional.normalize(from_bytes, MEAN, STD),
            self.turned(tv_tensors.Image(image)),
            self.turned(functional.pil_to_tensor(image)),
        ]


def test_a_loaders_samples_are_torchs(tmp_path: Path) -> None:
    dataset = Photos(make_photos(tmp_path, 40, 30))
    options: Any = {"batch_size": None, "num_workers": 1, "collate_fn": list}
    loaders = (cls(dataset, **options) for cls in (data.DataLoader, unstarve.DataLoader))
    for expected, made in zip(*loaders, strict=True):
        for theirs, ours in zip(expected, made, strict=True):
            check_same(ours, theirs)
