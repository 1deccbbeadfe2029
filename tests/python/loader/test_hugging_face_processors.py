"""transformers' image processors in functions that are given to `set_transform()`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
import unstarve
from made_photos import make_photos
from made_tables import datasets, error_of
from PIL import Image
from torch.utils import data

#: 1 of 255, normalised: of two resizers.
NEAR = 1.01 / 255 / 0.2
SIZE = {"height": 24, "width": 32}


@pytest.fixture
def dataset(tmp_path: Path) -> Any:
    (tmp_path / "photos").mkdir()
    paths = sorted(make_photos(tmp_path / "photos", 90, 70).iterdir())
    rows = {"image": [str(path) for path in paths], "label": list(range(12))}
    return datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())


def by(processor: Any) -> Any:
    def apply(batch: Any) -> Any:
        inputs = processor(batch["image"], return_tensors="pt")
        inputs["label"] = batch["label"]
        return inputs

    return apply


def named(processor: Any) -> Any:
    def apply(batch: Any) -> Any:
        images = [image.convert("RGB") for image in batch["image"]]
        inputs = processor(images=images, return_tensors="pt")
        return {"pixel_values": inputs["pixel_values"], "label": batch["label"]}

    return apply


def listed(processor: Any) -> Any:
    return lambda batch: processor(list(batch["image"]), return_tensors="pt")


def engine_of(dataset: Any) -> str:
    return str(unstarve.DataLoader(dataset, batch_size=4, num_workers=1).explain().engine)


@pytest.mark.parametrize("function", [by, named, listed])
@pytest.mark.parametrize("resample", [2, 3])
def test_batches_are_what_the_processor_makes(dataset: Any, function: Any, resample: int) -> None:
    processor = transformers.ViTImageProcessor(
        size=SIZE, resample=resample, image_mean=[0.4, 0.5, 0.6], image_std=[0.2, 0.25, 0.3]
    )
    own = dataset.with_transform(function(processor))
    assert engine_of(own) == "native"
    loaders = [cls(own, batch_size=5) for cls in (data.DataLoader, unstarve.DataLoader)]
    for expected, got in zip(*loaders, strict=True):
        assert list(got) == list(expected)
        assert got["pixel_values"].shape == (len(got["pixel_values"]), 3, 24, 32)
        assert float((got["pixel_values"] - expected["pixel_values"]).abs().max()) <= NEAR
        assert torch.equal(got.get("label", torch.empty(0)), expected.get("label", torch.empty(0)))


class Sharpens(transformers.ViTImageProcessor):  # type: ignore[misc]
    def resize(self, *given: Any, **more: Any) -> Any:
        return super().resize(*given, **more) + 1


def test_other_processors_stay_python(dataset: Any) -> None:
    vit = transformers.ViTImageProcessor
    others = [
        Sharpens(size=SIZE),
        vit(size=SIZE, do_rescale=False),
        vit(size=SIZE, do_normalize=False),
        vit(size=SIZE, rescale_factor=1 / 127.5),
        vit(size=SIZE, resample=0),
        transformers.CLIPImageProcessor(),
    ]
    for processor in others:
        assert engine_of(dataset.with_transform(by(processor))) == "workers", processor
    assert engine_of(dataset.with_transform(by(vit(size=SIZE)))) == "native"


def test_arguments_of_a_call_stay_python(dataset: Any) -> None:
    processor = transformers.ViTImageProcessor(size=SIZE)

    def apply(batch: Any) -> Any:
        return processor(batch["image"], return_tensors="pt", do_rescale=False)

    def arrays(batch: Any) -> Any:
        return processor(batch["image"], return_tensors="np")

    assert engine_of(dataset.with_transform(apply)) == "workers"
    assert engine_of(dataset.with_transform(arrays)) == "workers"


def test_what_somebody_exchanged_is_noticed(dataset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import image_processing_backends as backends

    own = dataset.with_transform(by(transformers.ViTImageProcessor(size=SIZE)))
    original = backends.TorchvisionBackend.resize

    def resize(*given: Any, **more: Any) -> Any:
        return original(*given, **more) // 2

    monkeypatch.setattr(backends.TorchvisionBackend, "resize", resize)
    assert engine_of(own) == "workers"


def test_results_that_differ_leave_it_to_python(
    dataset: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unstarve.engine import table_images

    monkeypatch.setattr(table_images, "_NEAR", -1.0)
    own = dataset.with_transform(by(transformers.ViTImageProcessor(size=SIZE)))
    loader = unstarve.DataLoader(own, batch_size=4, num_workers=1)
    explanation = loader.explain()
    assert explanation.engine == "workers"
    assert "image processor gives other results" in explanation.reason


def test_greys_are_left_to_transformers(dataset: Any, tmp_path: Path) -> None:
    """Which refuses them."""
    Image.open(tmp_path / "photos" / "03.jpg").convert("L").save(tmp_path / "grey.png")
    paths = [str(path) for path in sorted((tmp_path / "photos").iterdir())] * 13
    paths.insert(1, str(tmp_path / "grey.png"))  # 64 of the others are looked at
    rows = {"image": paths, "label": list(range(len(paths)))}
    own = datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())
    own = own.with_transform(listed(transformers.ViTImageProcessor(size=SIZE)))
    assert engine_of(own) == "native"
    loaders = (cls(own, batch_size=4) for cls in (data.DataLoader, unstarve.DataLoader))
    errors = [error_of(loader) for loader in loaders]
    assert errors[0] == errors[1] and errors[0][0] is RuntimeError
