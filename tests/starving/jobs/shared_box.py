"""Trains a Swin transformer on the machine in the corner of the lab."""

import argparse
import time
from pathlib import Path

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.models import swin_t
from torchvision.transforms.functional import center_crop, pil_to_tensor


class Photos(Dataset):
    def __init__(self, folder):
        self.names = sorted(Path(folder).glob("*/*.jpg")) * 50

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        with Image.open(self.names[index]) as photo:
            pixels = pil_to_tensor(photo.convert("RGB"))
        return center_crop(pixels, [224, 224]), index % 2


def fit(loader, seconds):
    model = swin_t(num_classes=2).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    first = time.time()
    for step, (x, y) in enumerate(loader, 1):
        x = x.cuda(non_blocking=True)
        with torch.autocast("cuda", dtype=torch.float16):
            out = model(x / 255.0)
            loss = torch.nn.functional.cross_entropy(out, y.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.time() > first + seconds:
            break


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("--seconds", type=float, default=8)
    a = p.parse_args()
    photos = Photos(a.data + "/train")
    fit(DataLoader(photos, 16, num_workers=2, pin_memory=True, shuffle=True), a.seconds)
