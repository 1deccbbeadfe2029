"""Sorts microfossils under the microscope; a museum keeps its plates without loss, as PNG."""

import argparse
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet50


def archive(photos, folder, count=48):
    """Plates of one size, as the museum's scanner writes them."""
    plates = []
    for file in sorted(photos.rglob("*.jpg"))[:count]:
        with Image.open(file) as photo:
            plate = photo.convert("RGB").resize((336, 256))
        plates.append(folder / f"{file.parent.name}-{file.stem}.png")
        plate.save(plates[-1])
    return plates


class Plates(Dataset):
    def __init__(self, files, side=224):
        self.files, self.side = files, side

    def __len__(self):
        return 1000 * len(self.files)

    def __getitem__(self, i):
        with Image.open(self.files[i % len(self.files)]) as file:
            plate = np.asarray(file.convert("RGB"))
        top = random.randrange(plate.shape[0] - self.side)
        left = random.randrange(plate.shape[1] - self.side)
        window = plate[top : top + self.side, left : left + self.side]
        return torch.from_numpy(window.transpose(2, 0, 1).copy()), i % 12


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=24)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plates = Plates(archive(args.data / "train", Path(folder)))
        loader = DataLoader(plates, args.batch_size, True, num_workers=2, pin_memory=True)
        model = resnet50(num_classes=12).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
        started = time.monotonic()
        for step, (windows, species) in enumerate(loader, 1):
            x = windows.cuda(non_blocking=True).float().div_(255)
            loss = nn.functional.cross_entropy(model(x), species.cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("step", step)
            if time.monotonic() - started > args.seconds:
                break


if __name__ == "__main__":
    main()
