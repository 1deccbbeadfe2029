"""Five of segmentation: an image with a mask of classes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from made_data import image_paths
from PIL import Image
from torch.utils.data import Dataset
from torchvision import tv_tensors
from torchvision.transforms import functional, v2
from torchvision.transforms.v2 import functional as v2_functional

from pipelines import options, pipeline

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Masks(Dataset[Any]):
    """As VOCSegmentation: two PIL images, given to `transforms` together."""

    def __init__(self, data: Path, transforms: Any) -> None:
        self.images = image_paths(data)
        self.masks = [data / "masks" / f"{path.stem}.png" for path in self.images]
        self.transforms = transforms

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        image = Image.open(self.images[index]).convert("RGB")
        return self.transforms(image, Image.open(self.masks[index]))


class ReferencePreset:
    """As pytorch/vision's references/segmentation: transforms.py and SegmentationPresetTrain."""

    def __init__(self, base_size: int, crop_size: int) -> None:
        self.least, self.most = int(0.5 * base_size), int(2.0 * base_size)
        self.crop_size = crop_size

    def __call__(self, image: Any, target: Any) -> Any:
        size = random.randint(self.least, self.most)
        image = functional.resize(image, [size], antialias=True)
        target = functional.resize(
            target, [size], interpolation=functional.InterpolationMode.NEAREST
        )
        if random.random() < 0.5:
            image, target = functional.hflip(image), functional.hflip(target)
        image, target = self.padded(image, 0), self.padded(target, 255)
        from torchvision.transforms import RandomCrop

        params = RandomCrop.get_params(image, (self.crop_size, self.crop_size))
        image, target = functional.crop(image, *params), functional.crop(target, *params)
        image = functional.convert_image_dtype(functional.pil_to_tensor(image), torch.float)
        target = torch.as_tensor(np.array(target), dtype=torch.int64)
        return functional.normalize(image, mean=MEAN, std=STD), target

    def padded(self, image: Any, fill: int) -> Any:
        width, height = image.size
        if min(width, height) >= self.crop_size:
            return image
        right, below = max(self.crop_size - width, 0), max(self.crop_size - height, 0)
        return functional.pad(image, [0, 0, right, below], fill=fill)


@pipeline("segmentation", "pytorch/vision, references/segmentation, training")
def reference_segmentation(data: Path, loader: Any) -> Any:
    return loader(Masks(data, ReferencePreset(520, 480)), **options(shuffle=True, batch_size=8))


class WithMasks(Dataset[Any]):
    """As torchvision's v2 wants it: tv_tensors, through one transform."""

    def __init__(self, data: Path, transform: Any) -> None:
        self.images = image_paths(data)
        self.masks = [data / "masks" / f"{path.stem}.png" for path in self.images]
        self.transform = transform

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        image = tv_tensors.Image(Image.open(self.images[index]).convert("RGB"))
        mask = tv_tensors.Mask(v2_functional.pil_to_tensor(Image.open(self.masks[index])))
        return self.transform(image, mask)


@pipeline("segmentation", "torchvision, transforms v2: images and masks")
def v2_masks(data: Path, loader: Any) -> Any:
    transform = v2.Compose(
        [
            v2.RandomResizedCrop((256, 256), antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype({tv_tensors.Image: torch.float32, "others": None}, scale=True),
            v2.Normalize(MEAN, STD),
            v2.ToPureTensor(),
        ]
    )
    return loader(WithMasks(data, transform), **options(shuffle=True))


class UNetData(Dataset[Any]):
    """As milesial/Pytorch-UNet, utils/data_loading.py, at half size."""

    def __init__(self, data: Path, scale: float) -> None:
        self.images = image_paths(data)
        self.masks = [data / "masks" / f"{path.stem}.png" for path in self.images]
        self.scale = scale

    def __len__(self) -> int:
        return len(self.images)

    @staticmethod
    def preprocess(picture: Any, scale: float, is_mask: bool) -> Any:
        width, height = picture.size
        size = (int(scale * width), int(scale * height))
        kind = Image.Resampling.NEAREST if is_mask else Image.Resampling.BICUBIC
        values = np.asarray(picture.resize(size, resample=kind))
        if is_mask:
            return values.astype(np.int64)
        return values.transpose((2, 0, 1)) / 255.0

    def __getitem__(self, index: int) -> Any:
        image, mask = Image.open(self.images[index]), Image.open(self.masks[index])
        return {
            "image": torch.as_tensor(self.preprocess(image, self.scale, False)).float(),
            "mask": torch.as_tensor(self.preprocess(mask, self.scale, True)).long(),
        }


@pipeline("segmentation", "milesial/Pytorch-UNet", is_random=False)
def unet(data: Path, loader: Any) -> Any:
    return loader(UNetData(data, 0.5), **options(batch_size=8))


class AlbumentedMasks(Dataset[Any]):
    def __init__(self, data: Path, augmentation: Any) -> None:
        self.images = image_paths(data)
        self.masks = [data / "masks" / f"{path.stem}.png" for path in self.images]
        self.augmentation = augmentation

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        import cv2

        image = cv2.cvtColor(cv2.imread(str(self.images[index])), cv2.COLOR_BGR2RGB)
        mask = np.asarray(Image.open(self.masks[index]))
        sample = self.augmentation(image=image, mask=mask)
        return sample["image"].transpose(2, 0, 1).astype("float32"), sample["mask"].astype("int64")


@pipeline("segmentation", "qubvel/segmentation_models.pytorch, CamVid")
def albumentations_masks(data: Path, loader: Any) -> Any:
    import albumentations as albu

    augmentation = albu.Compose(
        [
            albu.HorizontalFlip(p=0.5),
            albu.PadIfNeeded(min_height=320, min_width=320),
            albu.RandomCrop(height=320, width=320),
            albu.RandomBrightnessContrast(p=0.5),
            albu.Normalize(MEAN, STD),
        ]
    )
    return loader(AlbumentedMasks(data, augmentation), **options(shuffle=True, batch_size=8))


class ForSegFormer(Dataset[Any]):
    def __init__(self, data: Path) -> None:
        from transformers import SegformerImageProcessor

        self.images = image_paths(data)
        self.masks = [data / "masks" / f"{path.stem}.png" for path in self.images]
        self.processor = SegformerImageProcessor(do_reduce_labels=True)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        image, mask = Image.open(self.images[index]), Image.open(self.masks[index])
        encoded = self.processor(image, mask, return_tensors="pt")
        return {name: values.squeeze() for name, values in encoded.items()}


@pipeline(
    "segmentation", "Hugging Face, fine-tuning SegFormer on a custom data set", is_random=False
)
def segformer(data: Path, loader: Any) -> Any:
    return loader(ForSegFormer(data), **options(batch_size=8))
