"""Fine-tunes a network of timm to breeds of pets with Accelerate."""

import argparse
import time

import timm
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

MEAN, STD = timm.data.IMAGENET_DEFAULT_MEAN, timm.data.IMAGENET_DEFAULT_STD


def build_loader(root, batch_size):
    augment = transforms.Compose(
        [
            transforms.RandomResizedCrop(192, scale=(0.5, 1.0)),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )
    pets = ConcatDataset([ImageFolder(f"{root}/train", augment)] * 50)
    return DataLoader(
        pets, batch_size, shuffle=True, num_workers=1, pin_memory=True, drop_last=True
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--model", default="repvgg_b0")
    parser.add_argument("--batch-size", type=int, default=24)
    args = parser.parse_args()

    accelerator = Accelerator()
    model = timm.create_model(args.model, num_classes=37, drop_rate=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10_000)
    loader = build_loader(args.data, args.batch_size)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)

    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    started = time.time()
    model.train()
    for step, (images, breeds) in enumerate(loader, 1):
        loss = criterion(model(images), breeds)
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        accelerator.print(f"step {step}")
        if time.time() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
