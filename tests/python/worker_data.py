"""Data sets and collate functions for the tests of worker processes; at module level, for spawn."""

from __future__ import annotations

import os
import random
import resource
import signal
import time
from collections import namedtuple
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

Pair = namedtuple("Pair", ["first", "second"])


class Mixed:
    """Every kind of thing in a sample, and a draw from every generator."""

    def __len__(self) -> int:
        return 23

    def __getitem__(self, index: int) -> dict[str, Any]:
        info = get_worker_info()
        assert info is None or info.dataset is not None
        return {
            "array": np.full((3, 40, 40), index, np.float32) + np.random.rand(),
            "tensor": torch.rand(7),
            "number": index,
            "real": random.random(),
            "text": f"sample {index}",
            "bytes": bytes([index]),
            "pair": Pair(torch.tensor([index, index]), np.int64(index)),
            "list": [torch.full((2,), index, dtype=torch.bfloat16), index > 3],
        }


class Stream(IterableDataset):  # type: ignore[misc]
    """Shares its numbers out among the workers, unevenly."""

    def __iter__(self) -> Any:
        info = get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        for number in range(worker, 20 + 3 * worker, workers):
            yield np.full((30, 30), number + random.random()), torch.rand(3)


class Faults:
    """Pages that the worker has faulted in so far, beside an image as floats."""

    def __len__(self) -> int:
        return 640

    def __getitem__(self, index: int) -> Any:
        image: np.ndarray = np.full((3, 512, 512), float(index), np.float32)
        return image, resource.getrusage(resource.RUSAGE_SELF).ru_minflt


class Failing:
    def __init__(self, how: str) -> None:
        self.how = how

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        if index == 5:
            fail(self.how)
        return torch.full((1000,), float(index))


def fail(how: str) -> None:
    if how == "value":
        raise ValueError("sample 5 is bad")
    if how == "key":
        raise KeyError("five")
    if how == "local":

        class LocalError(Exception):
            pass

        raise LocalError("of a class that cannot be pickled")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(3)
    if how == "sleep":
        time.sleep(60)


class Returning:
    """Whatever `make(index)` gives."""

    def __init__(self, make: Any, length: int = 8) -> None:
        self.make, self.length = make, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.make(index)


def as_list(batch: list[Any]) -> list[Any]:
    return batch


def one_of_each(batch: list[Any]) -> Any:
    """A custom collate function whose result shares, transposes and nests."""
    array = np.stack([sample["array"] for sample in batch])
    tensor = torch.from_numpy(array)
    return {
        "channels_last": tensor.contiguous(memory_format=torch.channels_last),
        "transposed": tensor.transpose(0, 3),
        "fortran": np.asfortranarray(array[:, 0]),
        "strided": array[:, :, ::2],
        "expanded": torch.ones(1).expand(4, 1000),
        "default": torch.utils.data.default_collate(batch),
        "nested": [(Pair(tensor[0], None), {"empty": torch.empty(0, 3)}), "text" * 3000],
        "again": [tensor, tensor],
    }


def same(first: Any, second: Any) -> bool:
    """Equal to the last bit, type, layout of memory."""
    if type(first) is not type(second):
        return False
    if isinstance(first, torch.Tensor):
        return bool(
            first.dtype == second.dtype
            and first.stride() == second.stride()
            and torch.equal(first, second)
            and first.requires_grad == second.requires_grad
        )
    if isinstance(first, np.ndarray):
        return bool(
            first.dtype == second.dtype
            and first.flags.c_contiguous == second.flags.c_contiguous
            and first.shape == second.shape
            and first.tobytes() == second.tobytes()
        )
    if isinstance(first, dict):
        return list(first) == list(second) and all(same(first[k], second[k]) for k in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)
