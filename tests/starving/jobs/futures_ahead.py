"""Segments photographs; an executor reads the batches to come."""

import argparse
import random
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn


class TinyUNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.down = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.mid = nn.Sequential(nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(width, 2, 2, stride=2)

    def forward(self, x):
        return self.up(self.mid(self.down(x)))


def load_batch(paths):
    images = []
    for path in paths:
        photo = Image.open(path).convert("RGB").resize((192, 192), Image.Resampling.BICUBIC)
        images.append(np.array(photo))
    return torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).contiguous()


class BatchReader:
    """Keeps a few batches under way."""

    def __init__(self, root, batch_size, ahead=4):
        self.paths = list(Path(root).glob("*/*.jpg"))
        self.batch_size = batch_size
        self.executor = ThreadPoolExecutor(max_workers=2)
        self.pending = deque()
        for _ in range(ahead):
            self.submit()

    def submit(self):
        paths = random.choices(self.paths, k=self.batch_size)
        self.pending.append(self.executor.submit(load_batch, paths))

    def next_batch(self):
        batch = self.pending.popleft().result()
        self.submit()
        return batch


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
reader = BatchReader(args.data + "/train", batch_size=24)
net = TinyUNet().cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
mask = torch.zeros(24, 192, 192, dtype=torch.long, device="cuda")
began, step = time.time(), 0
while time.time() - began < args.seconds:
    x = reader.next_batch().cuda()
    loss = F.cross_entropy(net(x.float() / 255), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    print(f"step {step}")
reader.executor.shutdown(cancel_futures=True)
