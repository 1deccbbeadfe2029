"""Tells who wrote old letters; their scanned pages lie in a folder, without loss."""

import argparse
import tempfile
import time
from pathlib import Path

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, read_image
from torchvision.models import resnet34


def scan(photos, folder, pages=24):
    """Pages as the archive delivers them."""
    for number, path in enumerate(sorted(photos.rglob("*.jpg"))[:pages]):
        page = Image.open(path).convert("L").resize((720, 960))
        page.save(folder / f"page_{number:03d}.png", compress_level=6)


class Letters(Dataset):
    def __init__(self, folder, copies=2000):
        self.pages = [str(page) for page in sorted(folder.glob("*.png"))] * copies

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, i):
        page = read_image(self.pages[i], ImageReadMode.GRAY)
        return page[:, ::3, ::3], i % 12


class Scribe(nn.Module):
    def __init__(self, writers):
        super().__init__()
        self.body = resnet34(num_classes=writers)
        self.body.conv1 = nn.Conv2d(1, 64, 7, 2, 3, bias=False)

    def forward(self, pages):
        return self.body(pages.float().sub(127).div(64))


def train(args, folder):
    scan(Path(args.data, "large"), folder)
    loader = DataLoader(Letters(folder), 16, shuffle=True, num_workers=2, pin_memory=True)
    model = Scribe(12).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    end = time.time() + args.seconds
    for step, (pages, writers) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(pages.cuda(non_blocking=True)), writers.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() > end:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    with tempfile.TemporaryDirectory() as temporary:
        train(parser.parse_args(), Path(temporary))
