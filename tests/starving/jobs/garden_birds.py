"""Names birds at a feeder from photographs, read small and cut anew each time."""

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import convnext_small


class Feeder(Dataset):
    def __init__(self, folder, side=176):
        self.files, self.side = sorted(folder.rglob("*.jpg")), side

    def __len__(self):
        return 100 * len(self.files)

    def __getitem__(self, i):
        image = Image.open(self.files[i % len(self.files)])
        # The decoder can halve a picture itself, and need not make what is thrown away.
        image.draft("RGB", (image.width // 2, image.height // 2))
        left = random.randrange(image.width - self.side)
        top = random.randrange(image.height - self.side)
        cut = image.convert("RGB").crop((left, top, left + self.side, top + self.side))
        return torch.from_numpy(np.asarray(cut).copy()), i % 40


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(
        Feeder(args.data / "train"),
        batch_size=20,
        shuffle=True,
        num_workers=2,
        pin_memory=True,
        prefetch_factor=4,
    )
    model = convnext_small(num_classes=40).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.05)
    start = time.time()
    for step, (photos, birds) in enumerate(loader, 1):
        x = photos.cuda(non_blocking=True).permute(0, 3, 1, 2).float() / 255
        loss = nn.functional.cross_entropy(model(x), birds.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() - start > args.seconds:
            break


if __name__ == "__main__":
    main()
