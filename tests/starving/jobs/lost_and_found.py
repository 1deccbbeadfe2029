"""Finds owners of lost things by a triplet loss; a thread makes the next batch meanwhile."""

import argparse
import random
import threading
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import nn
from torchvision.models import resnet18


class DoubleBuffer:
    """Holds one batch; who comes too early waits for the other."""

    def __init__(self, make):
        self.make, self.held = make, None
        self.turn = threading.Condition()
        threading.Thread(target=self.fill, daemon=True).start()

    def fill(self):
        while True:
            made = self.make()
            with self.turn:
                self.turn.wait_for(lambda: self.held is None)
                self.held = made
                self.turn.notify_all()

    def take(self):
        with self.turn:
            self.turn.wait_for(lambda: self.held is not None)
            made, self.held = self.held, None
            self.turn.notify_all()
        return made


class Triplets:
    def __init__(self, folder, count, side=128):
        self.kinds = [sorted(kind.glob("*.jpg")) for kind in sorted(Path(folder).iterdir())]
        self.count, self.side = count, side

    def read(self, path):
        photo = ImageOps.autocontrast(Image.open(path).convert("RGB"))
        return np.asarray(photo.resize((self.side, self.side), Image.Resampling.LANCZOS))

    def __call__(self):
        triplets = []
        for _ in range(self.count):
            same, other = random.sample(self.kinds, 2)
            triplets.append([self.read(p) for p in (*random.sample(same, 2), random.choice(other))])
        return torch.from_numpy(np.array(triplets))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    buffer = DoubleBuffer(Triplets(args.data + "/train", count=6))
    net = resnet18(num_classes=128).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    loss_of, start, step = nn.TripletMarginLoss(0.3), time.time(), 0
    while time.time() - start < args.seconds:
        photos = buffer.take().cuda().permute(0, 1, 4, 2, 3).float().div(255)
        found = net(photos.flatten(0, 1)).view(*photos.shape[:2], -1)
        optimizer.zero_grad()
        loss_of(*found.unbind(1)).backward()
        optimizer.step()
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
