"""Five of detection: an image with boxes."""

from __future__ import annotations

import json
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

from pipelines import options, pipeline

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def as_lists(batch: list[Any]) -> Any:
    return tuple(zip(*batch, strict=True))


class Boxes(Dataset[Any]):
    """As torchvision's tutorial on fine-tuning object detection."""

    def __init__(self, data: Path, transforms: Any, with_masks: bool = False) -> None:
        self.images = image_paths(data)
        self.boxes = json.loads((data / "boxes.json").read_text())
        self.masks = data / "masks"
        self.with_masks = with_masks
        self.transforms = transforms

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        path = self.images[index]
        image = tv_tensors.Image(Image.open(path).convert("RGB"))
        found = torch.tensor(self.boxes[path.stem])
        size = (int(image.shape[-2]), int(image.shape[-1]))
        target: dict[str, Any] = {
            "boxes": tv_tensors.BoundingBoxes(found[:, :4], format="XYXY", canvas_size=size),
            "labels": found[:, 4],
            "image_id": index,
        }
        if self.with_masks:
            mask = torch.as_tensor(np.asarray(Image.open(self.masks / f"{path.stem}.png")))
            target["masks"] = tv_tensors.Mask((mask == found[:, 4, None, None]).to(torch.uint8))
        return self.transforms(image, target)


@pipeline("detection", "torchvision, fine-tuning object detection: PennFudan")
def fine_tuning_tutorial(data: Path, loader: Any) -> Any:
    transforms = v2.Compose(
        [v2.RandomHorizontalFlip(0.5), v2.ToDtype(torch.float, scale=True), v2.ToPureTensor()]
    )
    dataset = Boxes(data, transforms, with_masks=True)
    return loader(dataset, **options(shuffle=True, batch_size=8, collate_fn=as_lists))


@pipeline("detection", "pytorch/vision, references/detection, the preset ssd")
def reference_ssd(data: Path, loader: Any) -> Any:
    transforms = v2.Compose(
        [
            v2.RandomPhotometricDistort(),
            v2.RandomZoomOut(fill={tv_tensors.Image: (123.0, 117.0, 104.0), "others": 0}),
            v2.RandomIoUCrop(),
            v2.RandomHorizontalFlip(0.5),
            v2.ToDtype(torch.float, scale=True),
            v2.SanitizeBoundingBoxes(),
            v2.ToPureTensor(),
        ]
    )
    return loader(
        Boxes(data, transforms), **options(shuffle=True, batch_size=8, collate_fn=as_lists)
    )


@pipeline("detection", "pytorch/vision, references/detection, the preset lsj")
def reference_large_scale_jitter(data: Path, loader: Any) -> Any:
    transforms = v2.Compose(
        [
            v2.ScaleJitter(target_size=(512, 512), antialias=True),
            v2.RandomCrop(
                (512, 512),
                pad_if_needed=True,
                fill={tv_tensors.Image: (123.0, 117.0, 104.0), "others": 0},
            ),
            v2.RandomHorizontalFlip(0.5),
            v2.ToDtype(torch.float, scale=True),
            v2.SanitizeBoundingBoxes(),
            v2.ToPureTensor(),
        ]
    )
    return loader(
        Boxes(data, transforms), **options(shuffle=True, batch_size=8, collate_fn=as_lists)
    )


class DetrData(Dataset[Any]):
    """As facebookresearch/detr, datasets/coco.py and transforms.py, with its sizes halved."""

    SIZES = tuple(range(240, 401, 16))

    def __init__(self, data: Path) -> None:
        self.images = image_paths(data)
        self.boxes = json.loads((data / "boxes.json").read_text())

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        path = self.images[index]
        image = Image.open(path).convert("RGB")
        boxes = torch.tensor(self.boxes[path.stem], dtype=torch.float32)
        if random.random() < 0.5:
            image = functional.hflip(image)
            boxes[:, [0, 2]] = image.width - boxes[:, [2, 0]]
        short = random.choice(self.SIZES)
        before = image.size
        image = functional.resize(image, [short], max_size=667)
        scale = torch.tensor([image.width / before[0], image.height / before[1]]).repeat(2)
        pixels = functional.normalize(functional.to_tensor(image), MEAN, STD)
        return pixels, {"boxes": boxes[:, :4] * scale, "labels": boxes[:, 4].long()}


@pipeline("detection", "facebookresearch/detr")
def detr(data: Path, loader: Any) -> Any:
    return loader(DetrData(data), **options(shuffle=True, batch_size=8, collate_fn=as_lists))


class Letterboxed(Dataset[Any]):
    """As ultralytics/yolov5's utils/dataloaders.py without mosaic: OpenCV, letterbox, a flip."""

    def __init__(self, data: Path, size: int) -> None:
        self.images = image_paths(data)
        self.boxes = json.loads((data / "boxes.json").read_text())
        self.size = size

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        import cv2

        path = self.images[index]
        image = cv2.imread(str(path))
        height, width = image.shape[:2]
        ratio = self.size / max(height, width)
        if ratio != 1:
            size = (int(width * ratio), int(height * ratio))
            image = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
        boxes = np.asarray(self.boxes[path.stem], np.float32)
        boxes[:, :4] *= ratio
        below, right = self.size - image.shape[0], self.size - image.shape[1]
        image = cv2.copyMakeBorder(
            image, 0, below, 0, right, cv2.BORDER_CONSTANT, value=(114, 114, 114)
        )
        if random.random() < 0.5:
            image = np.fliplr(image)
            boxes[:, [0, 2]] = self.size - boxes[:, [2, 0]]
        pixels = np.ascontiguousarray(image.transpose((2, 0, 1))[::-1])
        return torch.from_numpy(pixels), torch.from_numpy(boxes)


@pipeline("detection", "ultralytics/yolov5, without mosaic")
def yolo_letterbox(data: Path, loader: Any) -> Any:
    return loader(
        Letterboxed(data, 416), **options(shuffle=True, batch_size=16, collate_fn=as_lists)
    )
