"""Tables of Hugging Face's `datasets` with images, and batches of both loaders, compared."""

from __future__ import annotations

import importlib
from typing import Any

import torch
import unstarve
from torch.utils import data
from torchvision import transforms as v1

datasets: Any = importlib.import_module("datasets")
importlib.import_module("tqdm").tqdm.monitor_interval = 0  # its thread outlives the tests

EVALUATION = v1.Compose([v1.Resize(48), v1.CenterCrop(40), v1.ToTensor()])
#: Pillow's resizing is 2 from torchvision's own in a few values.
NEAR = 2.1 / 255


def table(images: list[Any], **columns: Any) -> Any:
    """Labels count the rows."""
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "label": datasets.Value("int64"),
            **{name: feature for name, (_, feature) in columns.items()},
        }
    )
    rows = {
        "image": [{"bytes": i, "path": None} if isinstance(i, bytes) else i for i in images],
        "label": list(range(len(images))),
        **{name: values for name, (values, _) in columns.items()},
    }
    return datasets.Dataset.from_dict(rows, features=features)


def guide(examples: Any) -> Any:
    """As transformers' guide has it."""
    examples["pixel_values"] = [EVALUATION(image.convert("RGB")) for image in examples["image"]]
    del examples["image"]
    return examples


def both(dataset: Any, engine: str = "native", **options: Any) -> list[tuple[Any, Any]]:
    """Batches of torch's loader and of ours, beside each other."""
    options = {"batch_size": 5, **options}
    torch.manual_seed(1)
    expected = list(data.DataLoader(dataset, **options))
    torch.manual_seed(1)
    loader = unstarve.DataLoader(dataset, **options)
    assert loader.explain().engine == engine, loader.explain()
    return list(zip(expected, loader, strict=True))


def assert_alike(expected: Any, got: Any, near: float = NEAR) -> None:
    assert type(got) is type(expected)
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        for key, value in expected.items():
            assert_alike(value, got[key], near)
    elif isinstance(expected, torch.Tensor):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        assert float((got.double() - expected.double()).abs().max()) <= near
    else:
        assert len(got) == len(expected)
        for one, other in zip(expected, got, strict=True):
            assert_alike(one, other, near)


def error_of(loader: Any) -> tuple[type, str]:
    """Of its first batch. Its frames, which hold worker processes, are gone."""
    try:
        next(iter(loader))
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("the batch came")
