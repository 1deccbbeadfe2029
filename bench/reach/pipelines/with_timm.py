"""Three with timm's transforms, and the loader of a script's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torchvision import datasets

from pipelines import options, pipeline


def folder(data: Path, **given: Any) -> Any:
    from timm.data import create_transform

    return datasets.ImageFolder(data / "images", create_transform(**given))


@pipeline("timm", "huggingface/pytorch-image-models, training: RandAugment, RandomErasing")
def timm_training(data: Path, loader: Any) -> Any:
    dataset = folder(
        data,
        input_size=224,
        is_training=True,
        auto_augment="rand-m7-mstd0.5-inc1",  # with 9, Pillow 13 refuses to keep no bit
        re_prob=0.25,
        interpolation="random",
    )
    return loader(dataset, **options(shuffle=True))


@pipeline("timm", "huggingface/pytorch-image-models, validation", is_random=False)
def timm_validation(data: Path, loader: Any) -> Any:
    dataset = folder(
        data, input_size=224, is_training=False, interpolation="bicubic", crop_pct=0.95
    )
    return loader(dataset, **options())


@pipeline("timm", "facebookresearch/deit without RandAugment: crops, colours, RandomErasing")
def deit(data: Path, loader: Any) -> Any:
    dataset = folder(
        data,
        input_size=224,
        is_training=True,
        color_jitter=0.3,
        auto_augment=None,
        interpolation="bicubic",
        re_prob=0.25,
        re_mode="pixel",
    )
    return loader(dataset, **options(shuffle=True))
