"""Of a transform that ends in random steps what comes before is kept, and the samples and random
numbers are those of a job without us."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Subset
from torchvision import transforms
from torchvision.transforms import v2

COUNT = 50


class Double:
    def __call__(self, value: Any) -> Any:
        return value * 2


class Noise:
    """Writes into what it is given."""

    def __call__(self, value: Any) -> Any:
        return value.add_(torch.rand(1))


class OwnNoise:
    def __init__(self) -> None:
        self.generator = random.Random(5)

    def __call__(self, value: Any) -> Any:
        return value + self.generator.random()


class NoiseOfOne:
    """Draws for a single sample, which is not among the first."""

    def __call__(self, value: Any) -> Any:
        return value + torch.rand(1) if value[0] == 2 * 45 else value


class Counts:
    calls = 0

    def __call__(self, value: Any) -> Any:
        self.calls += 1
        return value + torch.rand(1) + self.calls


class Numbers(Dataset):  # type: ignore[misc]
    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        return {"x": self.transform(torch.full((4,), float(index))), "index": index}


class Alone(Numbers):
    def __getitem__(self, index: int) -> Any:
        return self.transform(torch.full((4,), float(index)))


class Pair(tuple):  # type: ignore[type-arg]
    """Is made of two."""

    def __new__(cls, first: Any, second: Any) -> Pair:
        return super().__new__(cls, (first, second))


class OddContainers(Numbers):
    def __getitem__(self, index: int) -> Any:
        return defaultdict(list, super().__getitem__(index))


class OwnContainers(Numbers):
    def __getitem__(self, index: int) -> Any:
        return Pair(super().__getitem__(index)["x"], index)


class LooksAtIt(Numbers):
    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index)["x"].sum()


class TwoCrops(Numbers):
    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index)["x"], super().__getitem__(index)["x"]


class DrawsToo(Numbers):
    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index)["x"], random.random()


class KeepsOneItself(Numbers):
    def __init__(self, transform: Any) -> None:
        super().__init__(transform)
        self.kept: dict[int, Any] = {}

    def __getitem__(self, index: int) -> Any:
        if index in self.kept:
            return self.kept[index]
        sample = super().__getitem__(index)["x"]
        if index == 33:
            self.kept[index] = sample
        return sample


class Images(Numbers):
    def __getitem__(self, index: int) -> Any:
        pixels: Any = np.arange((24 + index) * 30 * 3) * (index + 7) % 255
        image = Image.fromarray(pixels.astype(np.uint8).reshape(24 + index, 30, 3))
        return self.transform(image), index


def in_turn(*steps: Any) -> Any:
    return transforms.Compose(list(steps))


def seed() -> None:
    random.seed(3)
    np.random.seed(3)
    torch.manual_seed(3)


def passes(dataset: Any, workers: int = 0) -> list[Any]:
    seed()
    loader = DataLoader(dataset, batch_size=5, shuffle=True, num_workers=workers)
    found = [list(loader) for _ in range(3)]
    return [*found, torch.rand(1), random.random(), np.random.rand()]


def are_same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return list(one) == list(other) and all(are_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(are_same, one, other))
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)


SPLIT: dict[str, tuple[Callable[[], Any], str]] = {
    "in a dict": (lambda: Numbers(in_turn(Double(), Noise(), Double())), "last 2 of 3"),
    "a defaultdict": (lambda: OddContainers(in_turn(Double(), Noise())), "last 1 of 2"),
    "alone": (lambda: Alone(in_turn(Double(), Noise())), "last 1 of 2"),
    "all of it": (lambda: Numbers(in_turn(Noise(), Double())), "last 2 of 2"),
    "its own generator": (lambda: Numbers(in_turn(Double(), OwnNoise())), "last 1 of 2"),
    "a subset": (lambda: Subset(Numbers(in_turn(Double(), Noise())), range(5, 45)), "last 1 of 2"),
    "modules": (
        lambda: Numbers(torch.nn.Sequential(torch.nn.Softmax(0), torch.nn.Dropout(0.5))),
        "last 1 of 2",
    ),
    "images": (
        lambda: Images(
            in_turn(
                transforms.Resize((16, 16)),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
            )
        ),
        "last 2 of 3",
    ),
    "images, v2": (
        lambda: Images(
            v2.Compose(
                [v2.Resize((16, 16)), v2.PILToTensor(), v2.RandomCrop(8), v2.ToDtype(torch.float32)]
            )
        ),
        "last 2 of 4",
    ),
}


#: A generator of the data set's own is another one in each worker, as without us.
IN_WORKERS = [kind for kind in SPLIT if kind != "its own generator"]


@pytest.mark.parametrize(
    ("kind", "workers"), [*((kind, 0) for kind in SPLIT), *((kind, 2) for kind in IN_WORKERS)]
)
def test_the_part_before_is_kept(kind: str, workers: int, tmp_path: Path) -> None:
    make, told = SPLIT[kind]
    kept = unstarve.cached(make(), folder=tmp_path)
    assert f"of its transform the {told} steps are done each time" in kept.explain()
    assert are_same(passes(kept, workers), passes(make(), workers))
    assert kept._unstarve_keeper.served() == 2 * len(kept)
    later = unstarve.cached(make(), folder=tmp_path)
    assert are_same(passes(later), passes(make()))
    assert later._unstarve_keeper.served() >= 3 * len(later), "of the run before"


NOT_KEPT: dict[str, Callable[[], Any]] = {
    "the data set looks at it": lambda: LooksAtIt(in_turn(Double(), Noise())),
    "a class of its own": lambda: OwnContainers(in_turn(Double(), Noise())),
    "two of them": lambda: TwoCrops(in_turn(Double(), Noise())),
    "it draws outside too": lambda: DrawsToo(in_turn(Double(), Noise())),
    "a step has state": lambda: Numbers(in_turn(Double(), Counts())),
    "no step draws": lambda: DrawsToo(in_turn(Double(), Double())),
    "no list of steps": lambda: Numbers(Noise()),
}


@pytest.mark.filterwarnings("ignore:unstarve.cached keeps nothing")
@pytest.mark.parametrize("kind", NOT_KEPT)
def test_what_cannot_be_split_is_made_each_time(kind: str, tmp_path: Path) -> None:
    kept = unstarve.cached(NOT_KEPT[kind](), folder=tmp_path)
    assert are_same(passes(kept), passes(NOT_KEPT[kind]()))
    assert kept._unstarve_keeper.served() == 0
    assert kept.explain().startswith("nothing is kept")


@pytest.mark.filterwarnings("ignore:unstarve.cached keeps nothing")
@pytest.mark.parametrize(
    "make",
    [
        lambda: Numbers(in_turn(Double(), NoiseOfOne(), Noise())),
        lambda: KeepsOneItself(in_turn(Double(), Noise())),
    ],
)
def test_what_is_found_late_is_never_served(make: Callable[[], Any], tmp_path: Path) -> None:
    kept = unstarve.cached(make(), folder=tmp_path)
    assert are_same(passes(kept), passes(make()))
    assert "nothing is kept" in kept.explain()


def test_another_transform_is_used_at_once(tmp_path: Path) -> None:
    kept, plain = (Numbers(in_turn(Double(), Noise())) for _ in range(2))
    kept = unstarve.cached(kept, folder=tmp_path)
    passes(kept)
    kept.transform = plain.transform = in_turn(Double(), Double(), Noise())
    assert are_same(passes(kept), passes(plain))
    kept.transform.transforms.pop()
    plain.transform = in_turn(Double(), Double())
    assert are_same(passes(kept), passes(plain))


def test_the_part_that_is_kept_is_in_the_name(tmp_path: Path) -> None:
    for steps in ((Double(), Noise()), (Double(), Double(), Noise()), (Noise(),)):
        kept = unstarve.cached(Numbers(in_turn(*steps)), folder=tmp_path)
        assert are_same(passes(kept), passes(Numbers(in_turn(*steps))))
    assert len(list(tmp_path.iterdir())) == 3
