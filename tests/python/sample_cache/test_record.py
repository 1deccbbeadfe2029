"""A sample comes back from its bytes as it was, on memory of its own."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
import torch
from unstarve.sample_cache.record import are_equal, is_alike, restored, to_parts

Pair = namedtuple("Pair", ["first", "second"])

SAMPLES: list[Any] = [
    torch.arange(12).reshape(3, 4),
    torch.zeros(0, 3),
    torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last),
    torch.tensor([1.5, float("nan")], dtype=torch.bfloat16),
    np.arange(6, dtype=">i4").reshape(2, 3),
    np.asfortranarray(np.ones((3, 5))),
    np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    {"ids": [1, 2, 3], "mask": torch.ones(3, dtype=torch.bool), "text": "ß", "none": None},
    Pair(torch.ones(1), OrderedDict(a=1)),
    (b"bytes", 1.5, True, 2**80, frozenset([1])),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_comes_back(sample: Any) -> None:
    parts = to_parts(sample)
    again = restored(parts)
    assert is_alike(sample, again)
    assert are_equal(to_parts(again), parts)
    if torch.is_tensor(sample):
        assert again.stride() == sample.stride()


def test_arrays_are_writable_and_aligned() -> None:
    sample = {"large": torch.zeros(100_000), "small": np.zeros(3)}
    again = restored(to_parts(sample))
    again["large"] += 1
    again["small"] += 1
    assert again["large"].data_ptr() % 4 == 0
    assert float(sample["large"].sum()) == 0


def test_another_type_is_not_alike() -> None:
    assert not is_alike([1], (1,))
    assert not is_alike({"a": 1}, {"a": 1.0})
    assert not is_alike([1, 2], [1, "2"])


def test_what_cannot_be_pickled_raises() -> None:
    with pytest.raises(Exception, match=r"lambda|pickle"):
        to_parts(lambda: 1)
