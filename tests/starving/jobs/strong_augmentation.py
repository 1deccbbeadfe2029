"""Trains ResNet-50 with the strong augmentation of recent recipes."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()

    train_set = datasets.ImageFolder(
        args.data + "/train",
        transforms.Compose(
            [
                transforms.RandAugment(num_ops=6, magnitude=12),
                transforms.RandomResizedCrop(176),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
            ]
        ),
    )
    loader = DataLoader(
        train_set, batch_size=32, shuffle=True, num_workers=2, pin_memory=True, drop_last=True
    )
    model = models.resnet50().cuda()
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    started, step = time.time(), 0
    while True:
        for images, labels in loader:
            output = model(images.cuda(non_blocking=True))
            loss = criterion(output, labels.cuda(non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            print("step", step)
            if time.time() - started > args.seconds:
                return


main()
