"""Names the mints of old coins. A museum has few of them, so an epoch is a few batches."""

import argparse
import time
from pathlib import Path

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet50
from torchvision.transforms import v2


class Coins(Dataset):
    """Both sides of each coin, read once."""

    def __init__(self, folder, size=176, count=192):
        to_tensor = v2.Compose([v2.Resize(size), v2.CenterCrop(size), v2.PILToTensor()])
        self.sides, self.mints = [], []
        for file in sorted(Path(folder).rglob("*.jpg"))[:count]:
            with Image.open(file) as image:
                self.sides.append(to_tensor(image.convert("RGB")))
            self.mints.append(int(file.stem) % 6)

    def __len__(self):
        return len(self.sides)

    def __getitem__(self, i):
        return v2.functional.horizontal_flip(self.sides[i]), self.mints[i]


class Trainer:
    def __init__(self, folder, seconds):
        self.loader = DataLoader(
            Coins(folder), batch_size=32, shuffle=True, num_workers=6, pin_memory=True
        )
        self.model = resnet50(num_classes=6).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01, 0.9, weight_decay=1e-4)
        self.until, self.steps = time.time() + seconds, 0

    def epoch(self):
        for sides, mints in self.loader:
            x = sides.cuda(non_blocking=True).float() / 255
            loss = nn.functional.cross_entropy(self.model(x), mints.cuda(non_blocking=True))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.steps += 1
            print("step", self.steps)
            if time.time() > self.until:
                return False
        return True

    def fit(self):
        while self.epoch():
            pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    Trainer(options.data + "/train", options.seconds).fit()
