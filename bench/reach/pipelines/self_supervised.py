"""Three of self-supervised training: several views of an image."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch
from PIL import ImageFilter
from torchvision import datasets, transforms
from torchvision.transforms import v2

from pipelines import options, pipeline

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TO_FLOAT = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]


class TwoCropsTransform:
    """As facebookresearch/moco, moco/loader.py."""

    def __init__(self, base_transform: Any) -> None:
        self.base_transform = base_transform

    def __call__(self, x: Any) -> Any:
        return [self.base_transform(x), self.base_transform(x)]


class GaussianBlur:
    def __init__(self, sigma: tuple[float, float] = (0.1, 2.0)) -> None:
        self.sigma = sigma

    def __call__(self, x: Any) -> Any:
        return x.filter(ImageFilter.GaussianBlur(radius=random.uniform(*self.sigma)))


@pipeline("self-supervised", "facebookresearch/moco, version 2")
def moco_v2(data: Path, loader: Any) -> Any:
    augmentation = transforms.Compose(
        [
            transforms.RandomResizedCrop(224, scale=(0.2, 1.0)),
            transforms.RandomApply([transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
            transforms.RandomGrayscale(p=0.2),
            transforms.RandomApply([GaussianBlur()], p=0.5),
            transforms.RandomHorizontalFlip(),
            *TO_FLOAT,
        ]
    )
    dataset = datasets.ImageFolder(data / "images", TwoCropsTransform(augmentation))
    return loader(dataset, **options(shuffle=True))


class Views:
    """As many tutorials of SimCLR have it."""

    def __init__(self, base: Any, count: int) -> None:
        self.base = base
        self.count = count

    def __call__(self, x: Any) -> Any:
        return [self.base(x) for _ in range(self.count)]


@pipeline("self-supervised", "sthalles/SimCLR, by transforms v2")
def simclr(data: Path, loader: Any) -> Any:
    base = v2.Compose(
        [
            v2.ToImage(),
            v2.RandomResizedCrop(96, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.RandomApply([v2.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
            v2.RandomGrayscale(p=0.2),
            v2.GaussianBlur(kernel_size=9),
            v2.ToDtype(torch.float32, scale=True),
        ]
    )
    dataset = datasets.ImageFolder(data / "images", Views(base, 2))
    return loader(dataset, **options(shuffle=True))


class DataAugmentationDINO:
    """As facebookresearch/dino, main_dino.py."""

    def __init__(self, local_crops: int) -> None:
        flip_and_jitter = transforms.Compose(
            [
                transforms.RandomHorizontalFlip(p=0.5),
                transforms.RandomApply([transforms.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
                transforms.RandomGrayscale(p=0.2),
            ]
        )
        bicubic = transforms.InterpolationMode.BICUBIC

        def views(size: int, scale: tuple[float, float], blur: float, more: list[Any]) -> Any:
            crop = transforms.RandomResizedCrop(size, scale=scale, interpolation=bicubic)
            blurred = transforms.RandomApply([GaussianBlur()], p=blur)
            return transforms.Compose([crop, flip_and_jitter, blurred, *more, *TO_FLOAT])

        self.first = views(224, (0.4, 1.0), 1.0, [])
        self.second = views(224, (0.4, 1.0), 0.1, [transforms.RandomSolarize(128, p=0.2)])
        self.local = views(96, (0.05, 0.4), 0.5, [])
        self.local_crops = local_crops

    def __call__(self, image: Any) -> Any:
        crops = [self.first(image), self.second(image)]
        for _ in range(self.local_crops):
            crops.append(self.local(image))
        return crops


@pipeline("self-supervised", "facebookresearch/dino, two large and six small crops")
def dino(data: Path, loader: Any) -> Any:
    dataset = datasets.ImageFolder(data / "images", DataAugmentationDINO(6))
    return loader(dataset, **options(shuffle=True))
