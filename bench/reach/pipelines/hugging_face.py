"""Four over Hugging Face's `datasets`: images in an Arrow column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from made_data import image_paths
from torchvision import transforms

from pipelines import options, pipeline

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def arrow(data: Path) -> Any:
    """The images' bytes with their labels, as load_dataset() of a hub's data set gives them."""
    import datasets

    kept = data / f"arrow-{len(image_paths(data))}"
    if not kept.exists():
        features = datasets.Features(
            {"image": datasets.Image(), "label": datasets.ClassLabel(names=["cat", "dog"])}
        )
        paths = image_paths(data)
        rows = {
            "image": [{"bytes": path.read_bytes(), "path": path.name} for path in paths],
            "label": [int(path.parent.name == "dog") for path in paths],
        }
        datasets.Dataset.from_dict(rows, features=features).save_to_disk(kept)
    return datasets.load_from_disk(kept)


def as_dict(examples: list[Any]) -> Any:
    pixels = torch.stack([example["pixel_values"] for example in examples])
    return {"pixel_values": pixels, "labels": torch.tensor([row["label"] for row in examples])}


@pipeline("Hugging Face", "transformers' guide to image classification")
def with_transform(data: Path, loader: Any) -> Any:
    steps = transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )

    def apply(examples: dict[str, Any]) -> Any:
        examples["pixel_values"] = [steps(image.convert("RGB")) for image in examples["image"]]
        del examples["image"]
        return examples

    dataset = arrow(data).with_transform(apply)
    return loader(dataset, **options(shuffle=True, collate_fn=as_dict))


@pipeline(
    "Hugging Face",
    "transformers, run_image_classification_no_trainer.py, validation",
    is_random=False,
)
def no_trainer_validation(data: Path, loader: Any) -> Any:
    steps = transforms.Compose(
        [
            transforms.Resize(224),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )

    def apply(examples: dict[str, Any]) -> Any:
        examples["pixel_values"] = [steps(image.convert("RGB")) for image in examples["image"]]
        return examples

    return loader(arrow(data).with_transform(apply), **options(collate_fn=as_dict))


@pipeline(
    "Hugging Face", "Fine-tune ViT for image classification: an image processor", is_random=False
)
def image_processor(data: Path, loader: Any) -> Any:
    from transformers import ViTImageProcessor

    processor = ViTImageProcessor()

    def apply(batch: dict[str, Any]) -> Any:
        inputs = processor(list(batch["image"]), return_tensors="pt")
        inputs["label"] = batch["label"]
        return inputs

    return loader(arrow(data).with_transform(apply), **options(collate_fn=as_dict))


@pipeline("Hugging Face", "datasets' guide: an iterable data set with map()")
def iterable(data: Path, loader: Any) -> Any:
    steps = transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )

    def apply(example: dict[str, Any]) -> Any:
        return {"pixel_values": steps(example["image"].convert("RGB")), "label": example["label"]}

    stream = arrow(data).to_iterable_dataset(num_shards=2).shuffle(seed=1, buffer_size=64)
    return loader(stream.map(apply, remove_columns=["image"]), **options(collate_fn=as_dict))
