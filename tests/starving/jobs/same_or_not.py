"""Learns whether two pictures show the same kind of animal; the pictures come in a zip file."""

import argparse
import random
import tempfile
import time
import zipfile
from pathlib import Path

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T
from torchvision.models import mobilenet_v3_large


class ZippedPairs(Dataset):
    def __init__(self, archive, transform):
        self.archive, self.transform, self._zip = archive, transform, None
        with zipfile.ZipFile(archive) as opened:
            self.names = opened.namelist()

    def __len__(self):
        return 100_000

    def _picture(self, name):
        if self._zip is None:
            self._zip = zipfile.ZipFile(self.archive)
        with self._zip.open(name) as member:
            return self.transform(Image.open(member).convert("RGB"))

    def __getitem__(self, index):
        first, second = random.Random(index).sample(self.names, 2)
        same = Path(first).parent == Path(second).parent
        return self._picture(first), self._picture(second), float(same)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = mobilenet_v3_large(num_classes=64)

    def forward(self, a, b):
        return nn.functional.pairwise_distance(self.trunk(a), self.trunk(b))


def contrastive(distance, same, margin=1.0):
    apart = (margin - distance).clamp(min=0).square()
    return (same * distance.square() + (1 - same) * apart).mean()


def main(data, seconds):
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
            for photo in Path(data, "train").rglob("*.jpg"):
                target.write(photo, f"{photo.parent.name}/{photo.name}")
        pairs = ZippedPairs(file.name, T.Compose([T.CenterCrop(160), T.ToTensor()]))
        loader = DataLoader(pairs, 16, num_workers=2, pin_memory=True, persistent_workers=True)
        net = Siamese().cuda()
        adam = torch.optim.Adam(net.parameters(), lr=1e-4)
        start = time.time()
        for step, (a, b, same) in enumerate(loader, 1):
            a, b, same = (t.cuda(non_blocking=True) for t in (a, b, same))
            loss = contrastive(net(a, b), same)
            adam.zero_grad()
            loss.backward()
            adam.step()
            print(f"step {step}")
            if time.time() - start > seconds:
                break


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("--seconds", type=float, default=8)
    main(**vars(p.parse_args()))
