"""Trains ResNet-18 from files with one worker process."""

import argparse
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models
from torchvision.io import ImageReadMode, decode_image, read_file
from torchvision.transforms.v2 import functional


class Photos(Dataset):
    def __init__(self, root):
        self.paths = sorted(Path(root).rglob("*.jpg"))

    def __len__(self):
        return len(self.paths) * 50

    def __getitem__(self, index):
        encoded = read_file(str(self.paths[index % len(self.paths)]))
        image = decode_image(encoded, ImageReadMode.RGB)
        return functional.center_crop(image, [224, 224]), index % 2


def main(data, seconds):
    loader = DataLoader(Photos(f"{data}/train"), 64, shuffle=True, num_workers=1, pin_memory=True)
    model = models.resnet18(num_classes=2).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    started = time.monotonic()
    for step, (images, labels) in enumerate(loader):
        images = images.to("cuda", non_blocking=True).float().div_(255)
        labels = labels.to("cuda", non_blocking=True)
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.monotonic() - started > seconds:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    main(**vars(parser.parse_args()))
