"""unstarve.DataLoader where the engine does the first part of each sample, and Python the rest."""

from __future__ import annotations

import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from batches import apart, raised_by_torch, same
from PIL import Image
from torch.utils import data
from torchvision import datasets, transforms, tv_tensors
from torchvision.transforms import v2
from unstarve import DataLoader

PHOTOS = Path(__file__).resolve().parents[2] / "data" / "photos"
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def untouched(image: Any) -> Any:
    """A transform that nobody knows: nobody looks into it, since it does more than call others."""
    (image,) = [image]
    return image


def pixel_draws(_image: Any) -> Any:
    """What the three generators that transforms draw from give."""
    return torch.tensor([random.random(), np.random.rand(), float(torch.rand(()))])


CENTRE = [transforms.Resize(72), transforms.CenterCrop((64, 56))]
CROPS = [transforms.RandomResizedCrop(48), transforms.RandomHorizontalFlip()]
PARTLY = transforms.Compose([*CENTRE, untouched, transforms.PILToTensor()])
RANDOM = transforms.Compose([*CROPS, untouched, transforms.PILToTensor()])


def folder_of(root: Path, transform: Any = PARTLY, **arguments: Any) -> Any:
    return datasets.ImageFolder(str(root), transform, **arguments)


def partly(*arguments: Any, **named: Any) -> Any:
    loader = DataLoader(*arguments, **named)
    explanation = loader.explain()
    assert explanation.engine == "partly", explanation
    return loader


class Seen:
    """Keeps what the transforms behind the engine's part are given."""

    def __init__(self) -> None:
        self.images: list[Any] = []

    def __call__(self, image: Any) -> Any:
        self.images.append(image)
        return image


CHAINS: dict[str, Any] = {
    "PIL": ([*CENTRE, untouched, transforms.ToTensor()], 1 / 255),
    "PIL colours": ([*CENTRE, transforms.Grayscale(3), untouched, transforms.PILToTensor()], 2),
    "uint8": ([*CENTRE, transforms.PILToTensor(), untouched], 1),
    "normalised": (
        [*CENTRE, transforms.ToTensor(), transforms.Normalize(MEAN, STD), untouched],
        1 / 255 / min(STD),
    ),
    "tv_tensor": (
        [
            v2.ToImage(),
            v2.Resize((40, 50), antialias=True),
            untouched,
            v2.ToDtype(torch.float32, scale=True),
        ],
        1 / 255,
    ),
    "nested": (
        [torch.nn.Sequential(*CENTRE), transforms.Compose([untouched, v2.ToImage()])],
        1,
    ),
}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", CHAINS)
def test_pixels_are_those_of_torchvision(folder: Path, name: str, workers: int) -> None:
    parts, most = CHAINS[name]
    dataset = folder_of(folder, transforms.Compose(parts))

    def two_epochs(kind: Any) -> list[Any]:
        torch.manual_seed(7)
        loader = kind(dataset, batch_size=5, shuffle=True, num_workers=workers)
        return [batch for _ in range(2) for batch in loader]

    for mine, reference in zip(two_epochs(partly), two_epochs(data.DataLoader), strict=True):
        assert type(mine) is type(reference) is list
        assert torch.equal(mine[1], reference[1])
        assert (mine[0].dtype, mine[0].shape) == (reference[0].dtype, reference[0].shape)
        assert apart(mine[0], reference[0]) <= most * 1.01


@pytest.mark.parametrize("name", CHAINS)
def test_python_is_given_what_it_would_have_been_given(folder: Path, name: str) -> None:
    seen = {}
    for kind in (partly, data.DataLoader):
        seen[kind] = Seen()
        parts = [seen[kind] if part is untouched else part for part in CHAINS[name][0]]
        list(kind(folder_of(folder, transforms.Compose(parts)), batch_size=6))
    for ours, theirs in zip(seen[partly].images, seen[data.DataLoader].images, strict=True):
        assert type(ours) is type(theirs)
        if isinstance(ours, torch.Tensor):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        else:
            assert (ours.mode, ours.size) == (theirs.mode, theirs.size) == ("RGB", (56, 64))
    assert name != "tv_tensor" or type(seen[partly].images[0]) is tv_tensors.Image


def epochs(dataset: Any, kind: Any = partly, seed: int = 5, **arguments: Any) -> list[Any]:
    torch.manual_seed(seed)
    loader = kind(dataset, **{"batch_size": 5, "shuffle": True, **arguments})
    return [batch for _ in range(2) for batch in loader]


def test_crops_depend_on_the_seed_and_not_on_workers(folder: Path) -> None:
    dataset = folder_of(folder, RANDOM)
    first = epochs(dataset)
    assert same(first, epochs(dataset, num_workers=1))
    assert same(first, epochs(dataset, num_workers=3, prefetch_factor=3))
    assert not same(first, epochs(dataset, seed=6))
    assert not torch.equal(first[0][0], first[3][0])
    kept = epochs(dataset, num_workers=2, persistent_workers=True, shuffle=False)
    assert not torch.equal(kept[0][0], kept[3][0]), "an epoch draws anew"
    # They are those of the engine alone, which a test of its own compares with torchvision.
    whole = folder_of(folder, transforms.Compose([*CROPS, transforms.PILToTensor()]))
    assert same(first, epochs(whole, DataLoader))
    assert DataLoader(whole).explain().engine == "native"


def test_a_sample_drawn_twice_is_cropped_twice(folder: Path) -> None:
    sampler = [4, 4, 4]
    ((images, _),) = partly(folder_of(folder, RANDOM), batch_size=3, sampler=sampler)
    assert not torch.equal(images[0], images[1])
    assert not torch.equal(images[1], images[2])


@pytest.mark.parametrize("workers", [0, 2])
def test_python_draws_what_it_draws_in_torch(folder: Path, workers: int) -> None:
    dataset = folder_of(folder, transforms.Compose([*CENTRE, pixel_draws]))

    def draws(kind: Any) -> list[Any]:
        random.seed(3)
        np.random.seed(3)
        return epochs(dataset, kind, num_workers=workers)

    assert same(draws(partly), draws(data.DataLoader))


SAMPLERS: dict[str, Any] = {
    "shuffled": lambda: {"batch_size": 5, "shuffle": True},
    "weighted": lambda: {
        "sampler": data.WeightedRandomSampler([1.0] * 11 + [30.0], 20),
        "batch_size": 4,
    },
    "batches": lambda: {"batch_sampler": [[11, -1, 0], [3], [4, 5, 3, 7, 8]]},
    "one by one": lambda: {"batch_size": None, "sampler": [3, 3, 5]},
}


@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("workers", [0, 2])
def test_resumed_epochs_have_the_same_pixels(folder: Path, kind: str, workers: int) -> None:
    dataset = folder_of(folder, RANDOM)
    torch.manual_seed(2)
    loader = partly(dataset, num_workers=workers, **SAMPLERS[kind]())
    states, batches = [], []
    for batch in loader:
        batches.append([torch.as_tensor(part) for part in batch])
        states.append(loader.state_dict())
    assert states.pop()["epoch"] == 1  # after the last batch it is the next epoch's
    for taken, state in enumerate(states, start=1):
        torch.manual_seed(99)
        other = partly(dataset, num_workers=2 - workers, **SAMPLERS[kind]())
        other.load_state_dict(state)
        rest = [[torch.as_tensor(part) for part in batch] for batch in other]
        assert same(rest, batches[taken:]), taken


def test_files_that_only_python_reads_and_what_nobody_reads(folder: Path) -> None:
    picture = Image.open(next(PHOTOS.glob("*.jpg"))).resize((90, 80))
    picture.save(folder / "class0" / "one.ppm")
    picture.save(folder / "class1" / "really a ppm.jpg", format="ppm")
    picture.convert("CMYK").save(folder / "class2" / "printed.jpg")
    dataset = folder_of(folder)
    loader = partly(dataset, batch_size=3, num_workers=1)
    assert "one.ppm" in str(loader.explain())
    for ours, theirs in zip(loader, data.DataLoader(dataset, batch_size=3), strict=True):
        assert torch.equal(ours[1], theirs[1])
        assert apart(ours[0], theirs[0]) <= 1
    odd = folder / "class1" / "really a ppm.jpg"
    for content in (b"no image", next(PHOTOS.glob("*.jpg")).read_bytes()[:3000]):
        odd.write_bytes(content)
        with pytest.raises(Exception) as reference:
            list(data.DataLoader(dataset, batch_size=3))
        with pytest.raises(reference.type, match=str(reference.value)[:20].replace("(", ".")):
            list(partly(dataset, batch_size=3))
    odd.unlink()
    with pytest.raises(FileNotFoundError, match="really a ppm"):
        list(partly(dataset, batch_size=3, num_workers=1))


def fail(image: Any) -> Any:
    raise LookupError("no such image")


def test_what_the_users_python_raises_comes_through(folder: Path) -> None:
    dataset = folder_of(folder, transforms.Compose([*CENTRE, fail]))
    for workers in (0, 1):
        with pytest.raises(LookupError, match="no such image"):
            list(partly(dataset, num_workers=workers))
        for index in (12, "three", None):
            named: dict[str, Any] = {"sampler": [0, index], "num_workers": workers}
            kind, _ = raised_by_torch(data.DataLoader(folder_of(folder), **named))
            with pytest.raises(kind):
                list(partly(folder_of(folder), **named))


def images_alone(samples: list[Any]) -> Any:
    return torch.stack([image for image, _ in samples])


def negative(label: int) -> int:
    return -label


def test_labels_collation_and_subsets_of_the_users_own(folder: Path) -> None:
    """The transforms are all known: the engine makes the tensors, Python what is left."""
    whole = transforms.Compose([*CENTRE, transforms.PILToTensor()])
    dataset = folder_of(folder, whole, target_transform=negative)
    part = data.Subset(data.Subset(dataset, [11, 3, 5, 7]), [0, 3, 1])
    ((ours, labels),) = partly(part, batch_size=3)
    ((theirs, expected),) = data.DataLoader(part, batch_size=3)
    assert torch.equal(labels, expected) and apart(ours, theirs) <= 1
    named: dict[str, Any] = {"batch_size": 3, "collate_fn": images_alone, "num_workers": 1}
    loader = partly(part, **named)
    assert "collate_fn" in loader.explain().reason
    assert apart(next(iter(loader)), next(iter(data.DataLoader(part, **named)))) <= 1


def test_labels_that_are_no_whole_numbers(folder: Path) -> None:
    dataset = folder_of(folder, transforms.Compose([*CENTRE, transforms.PILToTensor()]))
    dataset.samples = [(path, label / 2) for path, label in dataset.samples]
    loader = partly(dataset, batch_size=12)
    assert "labels: 0.0 is not an int" in loader.explain().reason
    ((_, ours),), ((_, theirs),) = loader, data.DataLoader(dataset, batch_size=12)
    assert ours.dtype is theirs.dtype is torch.float64 and torch.equal(ours, theirs)


def exchange_transform(_worker: int) -> None:
    info = data.get_worker_info()
    assert type(info.dataset) is datasets.ImageFolder
    info.dataset.transform = transforms.Compose([*CENTRE, negative_image])


def negative_image(image: Any) -> Any:
    return 255 - transforms.functional.pil_to_tensor(image)


def test_worker_init_fn_may_change_the_data_set(folder: Path) -> None:
    dataset = folder_of(folder)
    named: dict[str, Any] = {"num_workers": 1, "worker_init_fn": exchange_transform}
    loaders = partly(dataset, **named), data.DataLoader(dataset, **named)
    for ours, theirs in zip(*loaders, strict=True):
        assert apart(ours[0], theirs[0]) <= 1


def test_worker_processes_that_are_not_forked(folder: Path) -> None:
    dataset = folder_of(folder, RANDOM)
    spawned = epochs(dataset, num_workers=1, multiprocessing_context="spawn")
    assert same(spawned, epochs(dataset))
    loader = partly(dataset, batch_size=12)
    assert next(iter(pickle.loads(pickle.dumps(loader))))[0].shape == (12, 3, 48, 48)


def test_worker_threads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which a Python without the interpreter lock has in the place of processes."""
    dataset = folder_of(folder, RANDOM)
    expected = epochs(dataset)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    loader = partly(dataset, batch_size=5, num_workers=3)
    assert "worker threads" in str(loader.explain())
    assert same(epochs(dataset, num_workers=3), expected)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_copies_are_kept_and_read(
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    context: str,
) -> None:
    dataset = folder_of(folder, RANDOM)
    expected = epochs(dataset)
    monkeypatch.setenv("UNSTARVE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    workers = 2 if context == "fork" else 1
    assert same(expected, epochs(dataset, num_workers=workers, multiprocessing_context=context))
    assert same(expected, epochs(dataset)), "in this process"
    # The engine alone finds what they kept.
    whole = folder_of(folder, transforms.Compose([*CROPS, transforms.PILToTensor()]))
    loader = DataLoader(whole, batch_size=5)
    list(loader)
    assert loader.stats()["cache_hits"] == 12


class Twice(datasets.ImageFolder):  # type: ignore[misc]
    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index // 2)


def test_explain_says_which_parts_are_whose(folder: Path) -> None:
    explanation = partly(folder_of(folder), num_workers=1).explain()
    assert "untouched: not among the transforms" in explanation.reason
    native = {part.what: part.native for part in explanation.parts}
    assert native == {
        "batches": False,
        "data set ImageFolder": True,
        "files": True,
        "labels": False,
        repr(CENTRE[0]): True,
        repr(CENTRE[1]): True,
        "untouched": False,
        "PILToTensor()": False,
    }
    lines = str(explanation).splitlines()
    assert "first part of each sample" in lines[0]
    assert any(line.startswith("  native          CenterCrop") for line in lines)
    assert any(line.startswith("  stays Python    untouched") for line in lines)


def test_what_stays_python_altogether(folder: Path) -> None:
    def engine(dataset: Any) -> str:
        return DataLoader(dataset).explain().engine

    early = DataLoader(folder_of(folder, transforms.Compose([untouched, *CENTRE]))).explain()
    assert early.engine == "torch"
    assert "no change of size comes before" in str(early)
    assert engine(folder_of(folder, transforms.Compose([CENTRE[0], untouched]))) == "torch"
    assert engine(folder_of(folder, None)) == "torch"
    assert engine(folder_of(folder, loader=Image.open)) == "torch"
    assert engine(Twice(str(folder), PARTLY)) == "torch"
    assert engine(data.ConcatDataset([folder_of(folder)])) == "torch"
    for path in folder.rglob("*.jpg"):
        path.rename(path.with_suffix(".ppm"))
    assert engine(folder_of(folder)) == "torch"
