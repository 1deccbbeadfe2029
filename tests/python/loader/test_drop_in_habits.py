"""What scripts do with torch's DataLoader besides looping over it: unstarve's must take it too."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils import data
from torchvision import datasets, transforms
from torchvision.transforms import v2
from unstarve import DataLoader
from unstarve.engine import environment
from unstarve.errors import InvalidArgumentError

TORCH = data.DataLoader
CENTRE = transforms.Compose(
    [transforms.Resize(40), transforms.CenterCrop(32), transforms.PILToTensor()]
)
# Of which the engine does the crop alone.
PARTLY = transforms.Compose([CENTRE, transforms.Lambda(lambda image: image.float())])


def numbers(count: int = 20) -> Any:
    return data.TensorDataset(torch.arange(count))


def values(batches: Any) -> list[Any]:
    return [batch[0].tolist() for batch in batches]


def labels(batches: Any) -> list[Any]:
    return [batch[1].tolist() for batch in batches]


def collate(loader: DataLoader[Any]) -> list[Any]:
    return values(loader)


def test_it_can_be_subscripted_and_inherited_from() -> None:
    assert collate(DataLoader[tuple[Any, ...]](numbers(), batch_size=10)) == [
        list(range(10)),
        list(range(10, 20)),
    ]

    class Own(DataLoader[Any]):
        pass

    own = Own(numbers())
    assert isinstance(own, DataLoader) and isinstance(own, TORCH)
    assert not isinstance(DataLoader(numbers()), Own)
    assert not isinstance(TORCH(numbers()), Own), "a subclass means itself alone"


def test_loaders_of_others_are_loaders() -> None:
    assert isinstance(TORCH(numbers()), DataLoader)
    assert issubclass(TORCH, DataLoader) and issubclass(DataLoader, TORCH)
    assert not isinstance([], DataLoader) and not issubclass(list, DataLoader)


@pytest.mark.parametrize("transform", [CENTRE, PARTLY], ids=["native", "partly"])
@pytest.mark.parametrize(
    "size", ["64G", "64g", "64GiB", "64 GB", "1.5T", "100Mi", "9k", "1000000", " 7 "]
)
def test_the_size_of_the_cache_has_units(
    folder: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch, size: str, transform: Any
) -> None:
    monkeypatch.setenv("UNSTARVE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("UNSTARVE_CACHE_BYTES", size)
    loader = DataLoader(datasets.ImageFolder(folder, transform), batch_size=12)
    assert len(next(iter(loader))[1]) == 12
    if transform is CENTRE:
        expected = {"64G": 64 << 30, "64 GB": 64 << 30, "1.5T": 3 << 39, "9k": 9 << 10, " 7 ": 7}
        engine = vars(loader)["_unstarve_engine"]
        assert engine.options.cache_bytes == expected.get(size, engine.options.cache_bytes)


@pytest.mark.parametrize("transform", [CENTRE, PARTLY], ids=["native", "partly"])
@pytest.mark.parametrize("place", ["/proc/cache", "file/cache", "file"])
def test_a_cache_that_cannot_be_made_is_done_without(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, transform: Any
) -> None:
    environment._can_keep.cache_clear()
    (tmp_path / "file").touch()
    monkeypatch.setenv("UNSTARVE_CACHE_DIR", str(tmp_path / place))
    loader = DataLoader(datasets.ImageFolder(folder, transform), batch_size=12, num_workers=1)
    with pytest.warns(UserWarning, match=f"no copies are kept: UNSTARVE_CACHE_DIR=.*{place}"):
        assert len(next(iter(loader))[1]) == 12
    assert (tmp_path / "file").stat().st_size == 0


@pytest.mark.parametrize("transform", [CENTRE, PARTLY], ids=["native", "partly"])
@pytest.mark.parametrize("size", ["", "much", "-1", "64X", "1e9", "99999999T", "0x10"])
def test_what_is_no_size_is_named(
    folder: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch, size: str, transform: Any
) -> None:
    monkeypatch.setenv("UNSTARVE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("UNSTARVE_CACHE_BYTES", size)
    loader = DataLoader(datasets.ImageFolder(folder, transform), num_workers=1)
    with pytest.raises(InvalidArgumentError, match=r"UNSTARVE_CACHE_BYTES is .*such as") as caught:
        next(iter(loader))
    assert repr(size) in str(caught.value)


def replaced(kind: Any, name: str, value: Any) -> Any:
    try:
        setattr(kind, name, value)
    except ValueError as error:
        object.__setattr__(kind, name, value)
        return str(error)
    return None


def batches_of(count: int, size: int) -> Any:
    return data.BatchSampler(data.SequentialSampler(range(count)), size, False)


def exchange_batches(loader: Any) -> list[Any]:
    before = values(loader)
    refused = replaced(loader, "batch_sampler", batches_of(20, 2))
    return [before, refused, len(loader), values(loader), values(loader), len(loader)]


def exchange_data_set(loader: Any) -> list[Any]:
    before = values(loader)
    refused = replaced(loader, "dataset", numbers(6))
    replaced(loader, "sampler", data.SequentialSampler(loader.dataset))
    replaced(loader, "batch_sampler", data.BatchSampler(loader.sampler, 4, True))
    return [before, refused, len(loader), values(loader), len(loader)]


def exchange_within(loader: Any) -> list[Any]:
    before = values(loader)
    loader.batch_sampler.batch_size = 10
    loader.batch_sampler.sampler = range(15)
    return [before, len(loader), values(loader)]


def exchange_generator(loader: Any) -> list[Any]:
    before = values(loader)
    loader.generator = torch.Generator().manual_seed(3)
    return [before, values(loader), loader.generator.initial_seed()]


def repeat_for_ever(loader: Any) -> list[Any]:
    """As some trainers do to keep their workers."""
    first, inner = iter(loader), loader.batch_sampler

    class Repeat:
        def __iter__(self) -> Any:
            while True:
                yield from inner

        def __len__(self) -> int:
            return len(inner)

    object.__setattr__(loader, "batch_sampler", Repeat())
    endless = iter(loader)
    return [values(first), len(loader), [next(endless)[0].tolist() for _ in range(12)]]


@pytest.mark.parametrize("workers", [{}, {"num_workers": 2}])
@pytest.mark.parametrize(
    "habit",
    [exchange_batches, exchange_data_set, exchange_within, exchange_generator, repeat_for_ever],
)
def test_what_is_exchanged_counts_as_in_torch(
    habit: Callable[[Any], list[Any]], workers: dict[str, Any]
) -> None:
    found = []
    for kind in (TORCH, DataLoader):
        torch.manual_seed(1)
        found.append(habit(kind(numbers(), batch_size=4, **workers)))
    assert found[0] == found[1]


def test_persistent_workers_keep_their_sampler_as_in_torch() -> None:
    found = []
    for kind in (TORCH, DataLoader):
        loader = kind(numbers(), batch_size=4, num_workers=1, persistent_workers=True)
        found.append(exchange_batches(loader))
    assert found[0] == found[1]


def test_the_engine_follows_an_exchanged_data_set(folder: Path) -> None:
    found = []
    for kind in (TORCH, DataLoader):
        whole = datasets.ImageFolder(folder, CENTRE)
        loader = kind(whole, batch_size=4)
        before = labels(loader)
        part = data.Subset(whole, [8, 3, 1])
        replaced(loader, "dataset", part)
        replaced(loader, "batch_sampler", batches_of(3, 2))
        found.append([before, len(loader), labels(loader)])
    assert loader.explain().engine == "native"
    assert found[0] == found[1]


def test_states_follow_an_exchanged_sampler() -> None:
    loader = DataLoader(numbers(), batch_size=4)
    values(loader)
    replaced(loader, "batch_sampler", batches_of(20, 2))
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    assert state["epoch"] == 1
    again = DataLoader(numbers(), batch_sampler=batches_of(20, 2))
    again.load_state_dict(state)
    assert values(again) == values(iterator)


def with_paths(samples: list[Any]) -> Any:
    return [(Path(path), label) for path, label in samples]


def as_objects(samples: list[Any]) -> Any:
    return np.array(samples, dtype=object)


def as_strings(samples: list[Any]) -> Any:
    return np.array(samples)


def numpy_labels(samples: list[Any]) -> Any:
    return [(path, np.int64(label)) for path, label in samples]


def short_labels(samples: list[Any]) -> Any:
    return [(path, np.int32(label)) for path, label in samples]


@pytest.mark.parametrize("transform", [CENTRE, PARTLY], ids=["native", "partly"])
@pytest.mark.parametrize("batch_size", [4, None])
@pytest.mark.parametrize(
    "change", [with_paths, as_objects, as_strings, numpy_labels, short_labels, tuple]
)
def test_lists_of_files_of_any_form(
    folder: Path, change: Callable[[list[Any]], Any], batch_size: int | None, transform: Any
) -> None:
    dataset = datasets.ImageFolder(folder, transform)
    dataset.samples = change(dataset.samples)
    theirs = list(TORCH(dataset, batch_size=batch_size))
    loader = DataLoader(dataset, batch_size=batch_size)
    for _ in range(2):
        ours = list(loader)
        assert len(ours) == len(theirs)
        for (image, label), (expected, right) in zip(ours, theirs, strict=True):
            assert image.shape == expected.shape and image.dtype == expected.dtype
            assert type(label) is type(right)
            assert repr(label) == repr(right)
    native = change in (with_paths, as_objects, tuple) or (change is numpy_labels and batch_size)
    engine = "native" if native and transform is CENTRE else "partly"
    assert loader.explain().engine == engine, loader.explain().reason


def test_what_is_no_list_of_files_is_said_by_the_data_set(folder: Path) -> None:
    dataset = datasets.ImageFolder(folder, CENTRE)
    dataset.samples = [path for path, _ in dataset.samples]
    loader = DataLoader(dataset)
    assert "not a list of (path, label)" in loader.explain().reason
    with pytest.raises(ValueError, match="too many values to unpack"):
        next(iter(loader))


@pytest.mark.parametrize("index", ["3", 3.0, None])
def test_what_is_no_index_is_a_type_error(folder: Path, index: Any) -> None:
    dataset = datasets.ImageFolder(folder, CENTRE)
    texts = []
    for kind in (TORCH, DataLoader):
        with pytest.raises(TypeError) as caught:
            next(iter(kind(dataset, sampler=[index])))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_a_timeout_without_workers_is_refused_as_in_torch(folder: Path) -> None:
    dataset = datasets.ImageFolder(folder, CENTRE)
    for kind in (TORCH, DataLoader):  # before 2.6, torch's own has no text
        with pytest.raises(AssertionError, match=r"^$|requires timeout == 0"):
            iter(kind(dataset, timeout=5))


def black(path: Any) -> Any:
    return Image.new("RGB", (64, 64))


def wrapped(function: Any) -> Any:
    """As a profiler or a retry would: it has the name and the module of what it wraps."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        return (result[0] * 0, result[1]) if isinstance(result, tuple) else result * 0

    return call


def patches() -> dict[str, tuple[Any, str, Any]]:
    from torchvision.datasets import folder as module

    return {
        "pil_loader": (module, "pil_loader", black),
        "Image.open": (module.Image, "open", black),
        "__getitem__": (
            datasets.ImageFolder,
            "__getitem__",
            wrapped(datasets.DatasetFolder.__getitem__),
        ),
        "of the base": (
            datasets.DatasetFolder,
            "__getitem__",
            wrapped(datasets.DatasetFolder.__getitem__),
        ),
        "a transform": (
            transforms.PILToTensor,
            "__call__",
            wrapped(transforms.PILToTensor.__call__),
        ),
        "Compose": (transforms.Compose, "__call__", wrapped(transforms.Compose.__call__)),
    }


@pytest.mark.parametrize("name", sorted(patches()))
def test_what_a_script_exchanges_is_what_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    dataset = datasets.ImageFolder(folder, CENTRE)
    loader = DataLoader(dataset, batch_size=12)
    assert next(iter(loader))[0].any(), "as it is, the images are not black"
    with monkeypatch.context() as patched:
        owner, attribute, value = patches()[name]
        patched.setattr(owner, attribute, value, raising=False)
        assert not next(iter(loader))[0].any()
        assert "exchanged" in loader.explain().reason
    assert next(iter(loader))[0].any() and loader.explain().engine == "native"


def corner(*_: Any) -> tuple[int, int, int, int]:
    return 0, 0, 16, 16


def corner_by_name(_: Any) -> dict[str, int]:
    return {"top": 0, "left": 0, "height": 16, "width": 16}


def in_reverse(dataset: Any) -> Any:
    return lambda indices: [dataset[index] for index in reversed(indices)]


@pytest.mark.parametrize("engine", ["torchvision", "torchvision.v2"])
def test_what_a_script_exchanges_on_an_object_is_what_runs(folder: Path, engine: str) -> None:
    if engine == "torchvision":
        crop: Any = transforms.RandomResizedCrop(16)
        crop.get_params = corner
    else:
        crop = v2.RandomResizedCrop(16)
        crop.make_params = crop._get_params = corner_by_name
    whole = transforms.Compose([crop, transforms.PILToTensor()])
    loader = DataLoader(datasets.ImageFolder(folder, whole), batch_size=12)
    first, again = (next(iter(loader))[0] for _ in range(2))
    assert torch.equal(first, again), "always the same corner"


@pytest.mark.parametrize("of", ["folder", "subset", "Subset"])
def test_how_a_script_fetches_a_batch_is_how_it_comes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    dataset: Any = datasets.ImageFolder(folder, CENTRE)
    if of != "folder":
        dataset = data.Subset(dataset, range(len(dataset)))
    right = torch.stack([dataset[index][0] for index in reversed(range(4))])
    if of == "Subset":
        reverse = lambda self, indices: [self[index] for index in reversed(indices)]  # noqa: E731
        monkeypatch.setattr(data.Subset, "__getitems__", reverse)
    else:
        dataset.__getitems__ = in_reverse(dataset)
    loader = DataLoader(dataset, batch_size=4)
    assert torch.equal(next(iter(loader))[0], right)
    assert "exchanged" in loader.explain().reason


@pytest.mark.parametrize("transform", [CENTRE, PARTLY], ids=["native", "partly"])
def test_pillow_s_limit_of_pixels_holds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, transform: Any
) -> None:
    dataset = datasets.ImageFolder(folder, transform)
    loader = DataLoader(dataset, batch_size=12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = next(iter(loader))[0].clone()
    sizes = sorted(Image.open(path).size for path, _ in dataset.samples)
    largest = max(width * height for width, height in sizes)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", largest - 1)
    with pytest.warns(Image.DecompressionBombWarning):
        images = next(iter(loader))[0]
    assert images.shape == expected.shape
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", largest // 2 - 1)
    with pytest.raises(Image.DecompressionBombError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        next(iter(loader))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert torch.equal(next(iter(loader))[0], expected)
