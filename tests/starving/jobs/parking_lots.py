"""Says of each space of a parking lot whether a car stands on it."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet50

SIDE = 128


def cut_out(folder, count=600):
    """Spaces are cut out of the cameras' pictures once, and kept as bytes."""
    file = folder / "parking_spaces.npy"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        spaces = np.random.default_rng(0).integers(0, 255, (count, 3, SIDE, SIDE), dtype=np.uint8)
        np.save(file, spaces)
    return file


class Spaces(Dataset):
    def __init__(self, file):
        self.spaces = np.load(file, mmap_mode="r")

    def __len__(self):
        return 100 * len(self.spaces)

    def __getitem__(self, i):
        i = i % len(self.spaces)
        return torch.from_numpy(self.spaces[i].copy()), i % 2


def flipped(images):
    """Half of them, on the device."""
    mirror = torch.rand(len(images), 1, 1, 1, device=images.device) < 0.5
    return torch.where(mirror, images.flip(3), images)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch_size = 192 if device == "cuda" else 16
    loader = DataLoader(
        Spaces(cut_out(args.data)),
        batch_size,
        shuffle=True,
        num_workers=1,
        pin_memory=True,
        prefetch_factor=4,
    )
    model = resnet50(num_classes=2).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    total, started = torch.zeros((), device=device), time.monotonic()
    for step, (spaces, taken) in enumerate(loader, 1):
        images = flipped(spaces.to(device, non_blocking=True).float() / 255)
        taken = taken.to(device, non_blocking=True)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = nn.functional.cross_entropy(model(images), taken)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
        print("step", step)
        if step % 100 == 0:
            print("mean loss", total.item() / step)
        if time.monotonic() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
