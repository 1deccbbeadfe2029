"""What the world's training scripts build loaders of: with unstarve's, the batches are torch's."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils import data
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, transforms
from unstarve import DataLoader

CENTRE = transforms.Compose(
    [transforms.Resize(40), transforms.CenterCrop(32), transforms.PILToTensor()]
)
Maker = Callable[[Any], dict[str, Any]]


class Shard(data.IterableDataset):  # type: ignore[misc]
    """Each worker its share."""

    def __iter__(self) -> Iterator[int]:
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 20, step))


class Drawing(data.Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        return index, random.random(), np.random.rand(), torch.rand(1)


class Dicts(data.Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 9

    def __getitem__(self, index: int) -> Any:
        return {"x": torch.full((index % 3 + 1,), index), "name": str(index)}


class ByBatch(data.Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> int:
        return index

    def __getitems__(self, indices: list[int]) -> list[int]:
        return [10 * index for index in indices]


def padded(batch: list[Any]) -> Any:
    rows = torch.nn.utils.rnn.pad_sequence([each["x"] for each in batch], batch_first=True)
    return {"x": rows, "name": [each["name"] for each in batch]}


def images_and_list(batch: list[Any]) -> Any:
    return torch.stack([image for image, _ in batch]), [label for _, label in batch]


def seeded(worker: int) -> None:
    for seed in (np.random.seed, random.seed, torch.manual_seed):
        seed(worker)


def generator(seed: int = 2) -> Any:
    return torch.Generator().manual_seed(seed)


IDIOMS: dict[str, Maker] = {
    "Subset": lambda images: {"dataset": data.Subset(images, [3, 1, 7]), "batch_size": 2},
    "ConcatDataset": lambda images: {
        "dataset": data.ConcatDataset([images, images]),
        "batch_size": 7,
    },
    "random_split": lambda images: {
        "dataset": data.random_split(images, [5, 7], generator=generator())[0],
        "shuffle": True,
        "batch_size": 4,
    },
    "WeightedRandomSampler": lambda images: {
        "dataset": images,
        "batch_size": 5,
        "sampler": data.WeightedRandomSampler([1.0] * 11 + [5.0], 30),
    },
    "SubsetRandomSampler": lambda images: {
        "dataset": images,
        "batch_size": 5,
        "sampler": data.SubsetRandomSampler(range(9)),
    },
    "DistributedSampler": lambda images: {
        "dataset": images,
        "batch_size": 2,
        "sampler": DistributedSampler(images, 4, 1, seed=3),
    },
    "replacement": lambda images: {
        "dataset": images,
        "batch_size": 3,
        "sampler": data.RandomSampler(images, replacement=True, num_samples=17),
    },
    "BatchSampler": lambda images: {
        "dataset": images,
        "batch_sampler": data.BatchSampler(data.RandomSampler(images), 5, True),
    },
    "lists of batches": lambda images: {
        "dataset": images,
        "batch_sampler": [[0, 5], [3], [1, 2, 4]],
    },
    "collate_fn": lambda _: {"dataset": Dicts(), "batch_size": 4, "collate_fn": padded},
    "collate_fn of images": lambda images: {
        "dataset": images,
        "batch_size": 4,
        "collate_fn": images_and_list,
    },
    "worker_init_fn": lambda _: {"dataset": Drawing(), "worker_init_fn": seeded},
    "random numbers": lambda _: {"dataset": Drawing(), "generator": generator()},
    "generator": lambda _: {
        "dataset": data.TensorDataset(torch.arange(21)),
        "shuffle": True,
        "generator": generator(),
        "batch_size": 4,
    },
    "IterableDataset": lambda _: {"dataset": Shard(), "batch_size": 4},
    "unbatched IterableDataset": lambda _: {"dataset": Shard(), "batch_size": None},
    "ChainDataset": lambda _: {
        "dataset": data.ChainDataset([Shard(), Shard()]),
        "batch_size": 4,
        "drop_last": True,
    },
    "__getitems__": lambda _: {"dataset": ByBatch(), "batch_size": 4},
    "pin_memory": lambda images: {"dataset": images, "batch_size": 4, "pin_memory": True},
    "a list": lambda _: {"dataset": [1, 2, 3, 4, 5], "batch_size": 2},
    "an array": lambda _: {"dataset": np.arange(10.0), "batch_size": 3},
    "a tensor": lambda _: {"dataset": torch.arange(10), "batch_size": 3, "shuffle": True},
    "unbatched images": lambda images: {"dataset": images, "batch_size": None},
}


def plain(batch: Any) -> Any:
    if isinstance(batch, torch.Tensor):
        return batch.tolist() if batch.dim() < 3 else (batch.shape, batch.dtype)
    if isinstance(batch, dict):
        return {key: plain(value) for key, value in batch.items()}
    return [plain(part) for part in batch] if isinstance(batch, (list, tuple)) else batch


def as_it_is(loader: Any) -> Any:
    return loader


def by_pickle(loader: Any) -> Any:
    return pickle.loads(pickle.dumps(loader))


def used_and_copied(loader: Any) -> Any:
    list(loader)
    return copy.copy(loader)


def epochs(kind: Any, make: Maker, images: Any, way: Callable[[Any], Any], **workers: Any) -> Any:
    for seed in (torch.manual_seed, random.seed, np.random.seed):
        seed(0)
    loader = way(kind(**make(images), **workers))
    try:
        length: Any = len(loader)
    except TypeError as error:
        length = str(error)
    found = [[plain(batch) for batch in loader] for _ in range(2)]
    return length, found, [plain(batch) for batch in zip(loader, loader, strict=True)]


@pytest.mark.parametrize(
    ("way", "workers"),
    [
        (as_it_is, {}),
        (by_pickle, {}),
        (used_and_copied, {}),
        (as_it_is, {"num_workers": 2, "prefetch_factor": 4}),
    ],
    ids=["plain", "pickled", "copied", "workers"],
)
@pytest.mark.parametrize("idiom", sorted(IDIOMS))
def test_the_batches_are_torch_s(
    folder: Path, idiom: str, way: Callable[[Any], Any], workers: dict[str, Any]
) -> None:
    images = datasets.ImageFolder(folder, CENTRE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn that there is no GPU to pin memory for
        theirs = epochs(data.DataLoader, IDIOMS[idiom], images, way, **workers)
        ours = epochs(DataLoader, IDIOMS[idiom], images, way, **workers)
    assert ours == theirs
