"""Of a transform that ends in random steps what comes before is kept, and the samples and random
numbers are those of a job without us."""

from __future__ import annotations

import abc
import random
import sys
import types
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


class OfAlbumentations:
    """As its Compose: one number is drawn before the steps, which note what they were asked for."""

    def __init__(self, steps: list[Any], p: float = 1.0, **processors: Any) -> None:
        self.transforms, self.p, self.processors = steps, p, processors
        self.save_applied_params = False
        self.py_random = random.Random(9)

    def __call__(self, **data: Any) -> Any:
        if self.py_random.random() >= self.p:
            return data
        for name, value in data.items():
            if not isinstance(value, np.ndarray):
                raise TypeError(f"{name} must be numpy array type")
        for step in self.transforms:
            data = step(**data)
        return data


class Shorter:
    def __call__(self, **data: Any) -> Any:
        self.params = {"shape": data["image"].shape}
        return {name: value[::2] for name, value in data.items()}


class Flipped:
    def __init__(self) -> None:
        self.py_random = random.Random(11)

    def __call__(self, **data: Any) -> Any:
        self.params = {"flip": self.py_random.random() < 0.5}
        if not self.params["flip"]:
            return data
        return {name: np.ascontiguousarray(value[::-1]) for name, value in data.items()}


class AsTensors:
    def __call__(self, **data: Any) -> Any:
        return {name: torch.from_numpy(np.ascontiguousarray(v)) for name, v in data.items()}


class WithMasks(Dataset):  # type: ignore[misc]
    def __init__(self, *steps: Any, **more: Any) -> None:
        self.augmentation = OfAlbumentations(list(steps), **more)

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        image: Any = np.arange(8.0) + index
        found = self.augmentation(image=image, mask=image > 4)
        return found["image"], {"mask": found["mask"], "index": index}


class WithBoxes(WithMasks):
    def __getitem__(self, index: int) -> Any:
        image: Any = np.arange(8.0) + index
        return self.augmentation(image=image, bboxes=np.ones(4))["image"]


class OfAudiomentations:
    """As its Compose, which draws from Python's own generator."""

    def __init__(self, steps: list[Any], shuffle: bool = False) -> None:
        self.transforms, self.p, self.shuffle = steps, 1.0, shuffle

    def __call__(self, samples: Any, sample_rate: int) -> Any:
        steps = self.transforms.copy()
        if random.random() < self.p:
            if self.shuffle:
                random.shuffle(steps)
            for step in steps:
                samples = step(samples, sample_rate)
        return samples


class Louder:
    def __call__(self, samples: Any, sample_rate: int) -> Any:
        return samples * 2


class Noisy:
    def __call__(self, samples: Any, sample_rate: int) -> Any:
        self.parameters = {"by": random.random()}
        return samples + self.parameters["by"] * sample_rate


STAND_INS: dict[str, dict[str, Any]] = {
    "albumentations.core.composition": {"Compose": OfAlbumentations},
    "albumentations.augmentations": {
        "Shorter": Shorter,
        "Flipped": Flipped,
        "AsTensors": AsTensors,
    },
    "audiomentations.core.composition": {"Compose": OfAudiomentations},
    "audiomentations.augmentations": {"Noisy": Noisy},
}
for library, kinds in STAND_INS.items():
    for name, kind in kinds.items():
        kind.__module__, kind.__name__, kind.__qualname__ = library, name, name


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where their classes are found by name, as those of libraries are."""
    for library, kinds in STAND_INS.items():
        parts = library.split(".")
        for number in range(1, len(parts) + 1):
            module: Any = types.ModuleType(".".join(parts[:number]))
            module.__path__ = []
            vars(module).update(kinds if number == len(parts) else {})
            monkeypatch.setitem(sys.modules, module.__name__, module)


class Sounds(Dataset):  # type: ignore[misc]
    def __init__(self, augment: Any) -> None:
        self.augment = augment

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        return self.augment(np.sin(np.arange(40) * index), sample_rate=16), index


class Abstract(abc.ABC, Numbers):
    """Whose class has something of Python's own that nobody can look into."""


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
    "albumentations": (
        lambda: WithMasks(Shorter(), Flipped(), Shorter(), AsTensors()),
        "last 3 of 4",
    ),
    "albumentations, a tensor last": (
        lambda: WithMasks(Shorter(), Shorter(), AsTensors()),
        "last 1 of 3",
    ),
    "audiomentations": (lambda: Sounds(OfAudiomentations([Louder(), Noisy()])), "last 1 of 2"),
    "an abstract class": (lambda: Abstract(in_turn(Double(), Noise())), "last 1 of 2"),
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
IN_WORKERS = [kind for kind in SPLIT if kind not in ("its own generator", "albumentations")]


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
    "boxes": lambda: WithBoxes(Shorter(), Flipped()),
    "key points": lambda: WithMasks(Shorter(), Flipped(), keypoints=1),
    "not always": lambda: WithMasks(Flipped(), Flipped(), p=0.5),
    "shuffled": lambda: Sounds(OfAudiomentations([Louder(), Noisy()], shuffle=True)),
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


def test_a_transform_that_draws_itself_is_kept_whole_and_draws_as_before(tmp_path: Path) -> None:
    def make() -> Any:
        return WithMasks(Shorter(), Shorter())

    kept = unstarve.cached(make(), folder=tmp_path)
    assert "its transform draws a number each time, as before" in kept.explain()
    plain = make()
    assert are_same(passes(kept), passes(plain))
    assert kept._unstarve_keeper.served() == 2 * len(kept)
    assert kept.augmentation.py_random.getstate() == plain.augmentation.py_random.getstate()


def test_another_seed_of_a_transform_is_no_other_data(tmp_path: Path) -> None:
    for seed_of_it in (1, 2):
        dataset = WithMasks(Shorter(), Flipped())
        dataset.augmentation.py_random.seed(seed_of_it)
        kept = unstarve.cached(dataset, folder=tmp_path)
        passes(kept)
    assert kept._unstarve_keeper.served() == (2 + 3) * len(kept), "of both runs"


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
