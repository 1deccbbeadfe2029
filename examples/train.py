"""Trains ResNet-50 on a folder of images, the way a first script does it.

python examples/train.py DATA                # DATA/CLASS/IMAGE.jpg
python examples/train.py DATA --workers 4
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def make_loader(args: argparse.Namespace) -> Any:
    augment = transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )
    dataset = datasets.ImageFolder(args.data, augment)
    return DataLoader(
        dataset, args.batch_size, shuffle=True, num_workers=args.workers, pin_memory=True
    )


def train(loader: Any, args: argparse.Namespace) -> None:
    model = models.resnet50().cuda()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    step, logged, running_loss = 0, time.monotonic(), 0.0
    for epoch in range(args.epochs):
        for images, labels in loader:
            output = model(images.cuda(non_blocking=True))
            loss = criterion(output, labels.cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
            step += 1
            if step % 10 == 0:
                now = time.monotonic()
                rate = 10 * args.batch_size / (now - logged)
                print(f"epoch {epoch} step {step} loss {running_loss / 10:.3f} {rate:.0f} images/s")
                logged, running_loss = now, 0.0
            if step == args.steps:
                return


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Trains ResNet-50 on a folder of images.")
    parser.add_argument("data", help="a folder with one folder per class")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many (0: never)")
    return parser


if __name__ == "__main__":
    arguments = argument_parser().parse_args()
    train(make_loader(arguments), arguments)
