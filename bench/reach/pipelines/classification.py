"""Ten of classification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from made_data import image_paths
from PIL import Image
from torch.utils.data import Dataset, default_collate
from torchvision import datasets, transforms
from torchvision.models import ResNet50_Weights
from torchvision.transforms import InterpolationMode, v2

from pipelines import options, pipeline

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TO_FLOAT = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]


def folder(data: Path, transform: Any) -> Any:
    return datasets.ImageFolder(data / "images", transform)


@pipeline("classification", "pytorch/examples, imagenet/main.py, training")
def imagenet_example(data: Path, loader: Any) -> Any:
    crops = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip()]
    dataset = folder(data, transforms.Compose([*crops, *TO_FLOAT]))
    return loader(dataset, **options(shuffle=True))


@pipeline("classification", "pytorch/examples, imagenet/main.py, validation", is_random=False)
def imagenet_example_validation(data: Path, loader: Any) -> Any:
    crops = [transforms.Resize(256), transforms.CenterCrop(224)]
    return loader(folder(data, transforms.Compose([*crops, *TO_FLOAT])), **options())


class ClassificationPresetTrain:
    """As pytorch/vision's references/classification/presets.py, with PIL images."""

    def __init__(self, auto_augment: str, random_erase_prob: float) -> None:
        steps: list[Any] = [
            transforms.RandomResizedCrop(176, interpolation=InterpolationMode.BILINEAR),
            transforms.RandomHorizontalFlip(0.5),
        ]
        if auto_augment == "ta_wide":
            steps.append(transforms.TrivialAugmentWide(interpolation=InterpolationMode.BILINEAR))
        elif auto_augment == "ra":
            steps.append(transforms.RandAugment(interpolation=InterpolationMode.BILINEAR))
        steps.append(transforms.PILToTensor())
        steps.append(transforms.ConvertImageDtype(torch.float))
        steps.append(transforms.Normalize(MEAN, STD))
        if random_erase_prob > 0:
            steps.append(transforms.RandomErasing(p=random_erase_prob))
        self.transforms = transforms.Compose(steps)

    def __call__(self, img: Any) -> Any:
        return self.transforms(img)


@pipeline("classification", "pytorch/vision, references/classification, ResNet-50's recipe")
def reference_trivial_augment(data: Path, loader: Any) -> Any:
    dataset = folder(data, ClassificationPresetTrain("ta_wide", 0.1))
    return loader(dataset, **options(shuffle=True))


@pipeline("classification", "pytorch/vision, references/classification, RandAugment and MixUp")
def reference_rand_augment(data: Path, loader: Any) -> Any:
    mix = v2.RandomChoice([v2.MixUp(num_classes=2, alpha=0.2), v2.CutMix(num_classes=2)])

    def collate_fn(batch: list[Any]) -> Any:
        return mix(*default_collate(batch))

    dataset = folder(data, ClassificationPresetTrain("ra", 0.1))
    return loader(dataset, **options(shuffle=True, collate_fn=collate_fn))


class ClassificationPresetEval:
    def __init__(self) -> None:
        self.transforms = transforms.Compose(
            [
                transforms.Resize(232, interpolation=InterpolationMode.BILINEAR),
                transforms.CenterCrop(224),
                transforms.PILToTensor(),
                transforms.ConvertImageDtype(torch.float),
                transforms.Normalize(MEAN, STD),
            ]
        )

    def __call__(self, img: Any) -> Any:
        return self.transforms(img)


@pipeline("classification", "pytorch/vision, references/classification", is_random=False)
def reference_evaluation(data: Path, loader: Any) -> Any:
    return loader(folder(data, ClassificationPresetEval()), **options())


@pipeline("classification", "torchvision, ResNet50_Weights.transforms()", is_random=False)
def transforms_of_weights(data: Path, loader: Any) -> Any:
    return loader(folder(data, ResNet50_Weights.DEFAULT.transforms()), **options())


@pipeline("classification", "torchvision, getting started with transforms v2")
def v2_rand_augment(data: Path, loader: Any) -> Any:
    transform = v2.Compose(
        [
            v2.ToImage(),
            v2.RandomResizedCrop((224, 224), antialias=True),
            v2.RandomHorizontalFlip(),
            v2.RandAugment(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
        ]
    )
    return loader(folder(data, transform), **options(shuffle=True))


@pipeline("classification", "EfficientNet's recipe by torchvision: AutoAugment")
def auto_augment(data: Path, loader: Any) -> Any:
    transform = transforms.Compose(
        [
            transforms.RandomResizedCrop(224, interpolation=InterpolationMode.BICUBIC),
            transforms.RandomHorizontalFlip(),
            transforms.AutoAugment(),
            *TO_FLOAT,
        ]
    )
    return loader(folder(data, transform), **options(shuffle=True))


class OpenedByPillow(Dataset[Any]):
    """As PyTorch's tutorial on custom data sets."""

    def __init__(self, data: Path, transform: Any) -> None:
        self.paths = image_paths(data)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        image = Image.open(self.paths[index]).convert("RGB")
        label = int(self.paths[index].parent.name == "dog")
        return self.transform(image), label


@pipeline("classification", "pytorch.org, Datasets & DataLoaders: a data set of one's own")
def custom_data_set(data: Path, loader: Any) -> Any:
    crops = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip()]
    dataset = OpenedByPillow(data, transforms.Compose([*crops, *TO_FLOAT]))
    return loader(dataset, **options(shuffle=True))


class ReadByOpenCv(Dataset[Any]):
    def __init__(self, data: Path, transform: Any) -> None:
        self.paths = image_paths(data)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        import cv2

        image = cv2.cvtColor(cv2.imread(str(self.paths[index])), cv2.COLOR_BGR2RGB)
        label = int(self.paths[index].parent.name == "dog")
        return self.transform(image=image)["image"], label


@pipeline("classification", "albumentations, classification with PyTorch")
def albumentations_and_opencv(data: Path, loader: Any) -> Any:
    import albumentations as albu
    from albumentations.pytorch import ToTensorV2

    transform = albu.Compose(
        [
            albu.RandomResizedCrop(size=(224, 224)),
            albu.HorizontalFlip(p=0.5),
            albu.RandomBrightnessContrast(p=0.5),
            albu.Normalize(MEAN, STD),
            ToTensorV2(),
        ]
    )
    return loader(ReadByOpenCv(data, transform), **options(shuffle=True))
