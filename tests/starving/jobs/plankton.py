"""Counts kinds of plankton on pictures that a buoy takes."""

import argparse
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset
from torchvision import transforms
from torchvision.datasets import ImageFolder
from torchvision.models import regnet_y_800mf


class AnyAngle:
    """Plankton has no up and down."""

    def __call__(self, image):
        angle = float(torch.rand(1)) * 360
        return transforms.functional.rotate(image, angle, transforms.InterpolationMode.BICUBIC)


def dataset_at(path):
    turn = transforms.Compose(
        [
            transforms.CenterCrop(192),
            AnyAngle(),
            transforms.ColorJitter(0.3, 0.3, 0.3),
            transforms.PILToTensor(),
        ]
    )
    pictures = ImageFolder(path, turn)
    return Subset(pictures, list(range(len(pictures))) * 60)


def main(path, seconds):
    dataset = dataset_at(path)
    loader = DataLoader(
        dataset,
        batch_size=20,
        shuffle=True,
        num_workers=max(16, 2 * (os.cpu_count() or 1)),
        pin_memory=True,
    )
    model = regnet_y_800mf(num_classes=2).cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4)
    begin, seen = time.time(), 0
    for step, (pictures, kinds) in enumerate(loader, start=1):
        pictures = pictures.cuda(non_blocking=True).to(torch.float32) / 255
        loss = nn.functional.cross_entropy(model(pictures), kinds.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += len(kinds)
        print(f"step {step}: {seen} pictures")
        if time.time() > begin + seconds:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    main(options.data + "/train", options.seconds)
