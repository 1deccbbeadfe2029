"""unstarve.DataLoader where the native engine loads: beside torch's on the same data set."""

from __future__ import annotations

import ast
import copy
import inspect
import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from batches import apart, same
from PIL import Image
from torch.utils import data
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, transforms
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional
from unstarve import DataLoader, _native

PHOTOS = Path(__file__).resolve().parents[2] / "data" / "photos"
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
CENTRE = transforms.Compose(
    [transforms.Resize(72), transforms.CenterCrop((64, 56)), transforms.PILToTensor()]
)
CROPS = transforms.Compose(
    [
        transforms.RandomResizedCrop(48),
        transforms.RandomHorizontalFlip(),
        transforms.PILToTensor(),
    ]
)


def folder_of(root: Path, transform: Any = CROPS) -> Any:
    return datasets.ImageFolder(str(root), transform)


def native(*arguments: Any, **named: Any) -> Any:
    loader = DataLoader(*arguments, **named)
    explanation = loader.explain()
    assert explanation.engine == "native", explanation
    return loader


def labels_of(batches: Any) -> list[Any]:
    return [torch.as_tensor(labels).tolist() for _, labels in batches]


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_those_of_torch(folder: Path, workers: int) -> None:
    dataset = folder_of(folder, CENTRE)

    def two_epochs(kind: Any) -> list[Any]:
        torch.manual_seed(7)
        loader = kind(dataset, batch_size=5, shuffle=True, num_workers=workers)
        return [batch for _ in range(2) for batch in loader]

    ours, theirs = two_epochs(native), two_epochs(data.DataLoader)
    assert labels_of(ours) == labels_of(theirs)
    for mine, reference in zip(ours, theirs, strict=True):
        assert type(mine) is type(reference) is list
        for a, b in zip(mine, reference, strict=True):
            assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        assert apart(mine[0], reference[0]) <= 1


FLOATS: dict[str, Any] = {
    "ToTensor": [transforms.Resize(72), transforms.CenterCrop(64), transforms.ToTensor()],
    "Normalize": [
        transforms.Resize((40, 50)),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ],
    "centre of a size": [
        transforms.Resize((70, 80)),
        transforms.CenterCrop((64, 50)),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ],
    "v2": [
        v2.ToImage(),
        v2.Resize((40, 50), antialias=True),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(MEAN, STD),
    ],
    "unscaled": [v2.ToImage(), v2.Resize((40, 50), antialias=True), v2.ToDtype(torch.float32)],
    "half": [
        v2.ToImage(),
        v2.CenterCrop(64),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(MEAN, STD),
        v2.ToDtype(torch.float16),
    ],
    "bicubic": [
        transforms.Resize(72, interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.CenterCrop(64),
        transforms.ToTensor(),
    ],
    "mirrored and grey": [
        transforms.Resize((40, 50)),
        transforms.RandomHorizontalFlip(1.0),
        transforms.RandomVerticalFlip(1.0),
        transforms.Grayscale(3),
        transforms.ToTensor(),
    ],
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_those_of_torchvision(folder: Path, name: str) -> None:
    library = v2 if name in ("v2", "unscaled", "half") else transforms
    dataset = folder_of(folder, library.Compose(FLOATS[name]))
    ((ours, _),) = native(dataset, batch_size=12)
    ((theirs, _),) = data.DataLoader(dataset, batch_size=12)
    assert (ours.dtype, ours.shape, ours.stride()) == (theirs.dtype, theirs.shape, theirs.stride())
    one_of_255 = {"ToTensor": 1 / 255, "bicubic": 1 / 255, "mirrored and grey": 2 / 255}
    largest = {"unscaled": 1.0, **one_of_255}.get(name, 1 / 255 / min(STD))
    assert apart(ours, theirs) <= largest * 1.01


def test_random_crops_are_those_of_torchvision_for_the_same_boxes(folder: Path) -> None:
    dataset = folder_of(folder)
    loader = native(dataset, batch_size=4, shuffle=True)
    iterator = iter(loader)
    batches = [next(iterator)]
    state = loader.state_dict()
    batches += iterator
    seeded = torch.Generator().manual_seed(state["start"]["seed"])
    order = iter(torch.randperm(12, generator=seeded).tolist())
    epoch, options = state["draw_seed"] % 2**32, loader._unstarve_engine.options
    for images, labels in batches:
        for image, label, index in zip(images, labels, order, strict=False):
            picture = Image.open(dataset.samples[index][0]).convert("RGB")
            x, y, width, height, flip = _native.sample_geometry(options, epoch, index, picture.size)
            expected = functional.resized_crop(picture, y, x, height, width, [48, 48])
            expected = functional.pil_to_tensor(expected)
            if flip:
                expected = functional.horizontal_flip(expected)
            assert apart(image, expected) <= 1
            assert label == dataset.samples[index][1]


# torch's loader has had the argument since 2.6.
ANY_ORDER = (
    {"in_order": False} if "in_order" in inspect.signature(data.DataLoader).parameters else {}
)


def run(dataset: Any, seed: int = 5, epochs: int = 2, **arguments: Any) -> list[Any]:
    torch.manual_seed(seed)
    loader = native(dataset, **{"batch_size": 5, "shuffle": True, **arguments})
    return [batch for _ in range(epochs) for batch in loader]


def test_the_seed_decides_all_and_threads_nothing(folder: Path) -> None:
    dataset = folder_of(folder)
    first = run(dataset)
    assert same(first, run(dataset, num_workers=1))
    assert same(first, run(dataset, num_workers=3, prefetch_factor=5, **ANY_ORDER))
    assert not same(first, run(dataset, seed=6))
    assert not torch.equal(first[0][0], first[3][0])
    kept = run(dataset, num_workers=2, persistent_workers=True, shuffle=False)
    assert not torch.equal(kept[0][0], kept[3][0]), "an epoch draws anew"


class Endless(data.Sampler):  # type: ignore[misc]
    def __iter__(self) -> Iterator[int]:
        while True:
            yield int(torch.randint(12, (1,)))


SAMPLERS: dict[str, Any] = {
    "weighted": lambda: {
        "sampler": data.WeightedRandomSampler([1.0] * 11 + [30.0], 30),
        "batch_size": 4,
    },
    "distributed": lambda: {
        "sampler": DistributedSampler(range(12), 2, 1, seed=3),
        "batch_size": 4,
    },
    "batches": lambda: {"batch_sampler": [[11, -1, 0], [3], [4, 5, 6, 7, 8]]},
    "one by one": lambda: {"batch_size": None, "shuffle": True},
    "drop_last": lambda: {"batch_size": 5, "drop_last": True, "shuffle": True},
    "generator": lambda: {
        "batch_size": 5,
        "shuffle": True,
        "generator": torch.Generator().manual_seed(4),
    },
    "endless": lambda: {"sampler": Endless(), "batch_size": 3},
}


def some(loader: Any) -> list[Any]:
    return [batch for _, batch in zip(range(8), loader, strict=False)]


@pytest.mark.parametrize("kind", SAMPLERS)
def test_samplers_of_every_kind(folder: Path, kind: str) -> None:
    dataset = folder_of(folder, CENTRE)
    torch.manual_seed(2)
    ours = some(native(dataset, **SAMPLERS[kind]()))
    torch.manual_seed(2)
    theirs = some(data.DataLoader(dataset, **SAMPLERS[kind]()))
    assert labels_of(ours) == labels_of(theirs)
    for mine, reference in zip(ours, theirs, strict=True):
        assert apart(mine[0], reference[0]) <= 1
        assert [type(part) for part in mine] == [type(part) for part in reference]


@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("workers", [0, 2])
def test_resumed_epochs_have_the_same_pixels(folder: Path, kind: str, workers: int) -> None:
    dataset = folder_of(folder)
    torch.manual_seed(2)
    loader = native(dataset, num_workers=workers, **SAMPLERS[kind]())
    states, batches = [], []
    for _, batch in zip(range(8), loader, strict=False):
        batches.append([torch.as_tensor(part) for part in batch])
        states.append(loader.state_dict())
    if len(states) < 8:
        assert states.pop()["epoch"] == 1  # after the last batch it is the next epoch's
    for taken, state in enumerate(states, start=1):
        torch.manual_seed(99)
        other = native(dataset, num_workers=2 - workers, **SAMPLERS[kind]())
        other.load_state_dict(state)
        rest = [batch for _, batch in zip(batches[taken:], other, strict=False)]
        rest = [[torch.as_tensor(part) for part in batch] for batch in rest]
        assert same(rest, batches[taken:]), taken


def test_a_sample_drawn_twice_is_cropped_twice(folder: Path) -> None:
    ((images, _),) = native(folder_of(folder), batch_size=3, sampler=[4, 4, 4])
    assert not torch.equal(images[0], images[1])
    assert not torch.equal(images[1], images[2])


def test_subsets_and_changed_lists(folder: Path) -> None:
    dataset = folder_of(folder, CENTRE)
    part = data.Subset(dataset, [7, 2, 10])
    ours, theirs = native(part, batch_size=2), data.DataLoader(part, batch_size=2)
    assert labels_of(ours) == labels_of(theirs)
    loader = native(dataset, batch_size=12)
    assert labels_of(loader) == [[0] * 4 + [1] * 4 + [2] * 4]
    dataset.samples[:] = [(path, label + 5) for path, label in dataset.samples[::-1]]
    assert labels_of(loader) == [[7] * 4 + [6] * 4 + [5] * 4]


def test_another_transform_is_seen_by_the_next_epoch(folder: Path) -> None:
    dataset = folder_of(folder)
    loader = native(dataset, batch_size=6)
    assert next(iter(loader))[0].shape == (6, 3, 48, 48)
    dataset.transform = CENTRE
    assert next(iter(loader))[0].shape == (6, 3, 64, 56)
    dataset.transform = transforms.Compose([CENTRE, transforms.Lambda(lambda image: image[:1])])
    assert next(iter(loader))[0].shape == (6, 1, 64, 56)
    explanation = loader.explain()
    assert explanation.engine == "partly" and "<lambda>" in explanation.reason


def test_single_samples_are_tv_tensors_where_torchvision_makes_them(folder: Path) -> None:
    dataset = folder_of(folder, v2.Compose([v2.ToImage(), v2.Resize((8, 8), antialias=True)]))
    image, label = next(iter(native(dataset, batch_size=None)))
    reference, _ = next(iter(data.DataLoader(dataset, batch_size=None)))
    assert type(image) is type(reference) and type(label) is int


def test_single_samples_lie_in_memory_as_torchvision_s(folder: Path) -> None:
    sized = [v2.Resize((40, 50)), v2.RandomHorizontalFlip(1.0)]
    floats = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    erased = transforms.RandomErasing(1.0, value=0.5)
    for parts in (
        [*sized, v2.ToImage()],
        [*sized, v2.ToImage(), *floats],
        [*sized, v2.PILToTensor(), v2.RandomVerticalFlip(1.0)],
        [*sized, transforms.PILToTensor(), transforms.ConvertImageDtype(torch.float32), erased],
        [*sized, transforms.ToTensor(), erased],
    ):
        dataset = folder_of(folder, v2.Compose(parts))
        ours, _ = next(iter(native(dataset, batch_size=None)))
        theirs, _ = next(iter(data.DataLoader(dataset, batch_size=None)))
        assert (ours.shape, ours.stride()) == (theirs.shape, theirs.stride()), parts
        if erased not in parts:
            assert apart(ours, theirs) <= (
                1 if ours.dtype is torch.uint8 else 1.01 / 255 / min(STD)
            )


def test_files_that_only_python_reads_and_what_nobody_reads(folder: Path) -> None:
    odd = folder / "class1" / "0 really a ppm.jpg"
    Image.open(next(PHOTOS.glob("*.jpg"))).resize((90, 80)).save(odd, format="ppm")
    dataset = folder_of(folder, CENTRE)
    loader = native(dataset, batch_size=3, num_workers=2)
    ours, theirs = list(loader), list(data.DataLoader(dataset, batch_size=3))
    assert labels_of(ours) == labels_of(theirs)
    assert all(apart(a[0], b[0]) <= 1 for a, b in zip(ours, theirs, strict=True))
    assert loader.stats()["samples_by_python"] == 1
    assert "only Python can load" in str(loader.explain())
    for content in (b"no image", next(PHOTOS.glob("*.jpg")).read_bytes()[:3000]):
        odd.write_bytes(content)
        with pytest.raises(Exception) as reference:
            list(data.DataLoader(dataset, batch_size=3))
        with pytest.raises(reference.type, match=str(reference.value)[:20].replace("(", ".")):
            list(native(dataset, batch_size=3))
    odd.unlink()
    with pytest.raises(FileNotFoundError):
        list(native(dataset, batch_size=3))


def test_nested_loops_and_abandoned_iterators(folder: Path) -> None:
    loader = native(folder_of(folder, CENTRE), batch_size=6)
    assert [[b[1].tolist() for b in loader] for _ in loader] == [labels_of(loader)] * 2
    for _ in range(5):
        next(iter(loader))
    kept = iter(loader)
    first = next(kept)
    assert labels_of(loader) == labels_of([first, *kept])


def _labels_in_child(loader: Any, answers: Any) -> None:
    answers.put(labels_of(loader))


def in_child(work: Any) -> bytes:
    """What a forked child answers."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(30)
        try:
            answer = repr(work())
        except BaseException as error:
            answer = repr(error)
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        said = answers.read()
    assert os.waitpid(child, 0)[1] == 0, "it hangs"
    return said


def test_who_keeps_all_labels_keeps_no_images(folder: Path) -> None:
    loader = native(folder_of(folder, CENTRE), batch_size=1)
    kept = [labels for _ in range(3) for _, labels in loader]
    assert torch.cat(kept).tolist() == 3 * [label for _, label in loader.dataset.samples]
    assert loader.stats()["slots_allocated"] < len(loader)


@pytest.mark.parametrize("workers", [0, 1])
def test_an_epoch_goes_on_in_a_forked_child(folder: Path, tmp_path: Path, workers: int) -> None:
    """As torch's does without workers: by Python, since threads do not come along."""
    dataset = folder_of(shutil.copytree(folder, tmp_path / "images"), CENTRE)
    Path(dataset.samples[-3][0]).write_bytes(b"no image")
    loader = native(dataset, batch_size=2, num_workers=workers)
    batches = iter(loader)
    next(batches)

    def rest() -> list[Any]:
        found: list[Any] = []
        while True:
            try:
                images, labels = next(batches)
                found.append((labels.tolist(), float(images.double().mean())))
            except StopIteration:
                return found
            except OSError as error:
                found.append(type(error).__name__)

    there, here = ast.literal_eval(in_child(rest).decode()), rest()
    assert [one[0] for one in there] == [one[0] for one in here]
    assert "UnidentifiedImageError" in here and len(here) == len(loader) - 1
    means = [[one[1] for one in found if isinstance(one, tuple)] for found in (there, here)]
    assert means[0] == pytest.approx(means[1], abs=1)
    assert in_child(lambda: (loader.stats(), loader.state_dict()["batches"])).startswith(b"({")


def test_a_forked_child_opens_its_own_engine(folder: Path) -> None:
    loader = native(folder_of(folder, CENTRE), batch_size=6)
    expected = labels_of(loader)
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_labels_in_child, args=(loader, answers))
    child.start()
    assert answers.get(timeout=60) == expected
    child.join(60)
    assert child.exitcode == 0
    assert labels_of(copy.deepcopy(loader)) == expected


def test_a_wait_ends_with_the_timeout(tmp_path: Path) -> None:
    """Each file takes some hundred milliseconds to decode."""
    noise = np.random.default_rng(0).integers(0, 256, (2000, 2000, 3), dtype=np.uint8)
    (tmp_path / "only").mkdir()
    Image.fromarray(noise).save(tmp_path / "only" / "0.jpg", quality=95, progressive=True)
    for i in range(1, 20):
        (tmp_path / "only" / f"{i}.jpg").symlink_to(tmp_path / "only" / "0.jpg")
    dataset = folder_of(tmp_path, CENTRE)
    loader = native(dataset, batch_size=20, num_workers=1, timeout=0.2)
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.2 seconds"):
        next(iter(loader))


def test_the_engine_needs_nothing_of_the_data_set_s_python(folder: Path) -> None:
    dataset = folder_of(folder, CENTRE)
    loader = native(dataset, batch_size=4)
    expected = [batch[0].clone() for batch in loader]
    dataset.samples.clear()
    shutil.rmtree(folder / "class0")
    assert len(expected) == 3
    explanation = loader.explain().to_dict()
    assert explanation["engine"] == "native" and all(p["native"] for p in explanation["parts"])
    assert loader.stats()["images"] == 12
