"""Trains on arrays that lie in an object store: each sample is one request."""

import argparse
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models


class Bucket:
    """A client of the store, which answers after 20 ms."""

    def __init__(self, objects):
        self.objects = objects

    def get(self, key):
        time.sleep(0.020)
        return self.objects[key % len(self.objects)]


class Arrays(Dataset):
    def __init__(self):
        generator = np.random.default_rng(0)
        self.bucket = Bucket([generator.bytes(3 * 128 * 128) for _ in range(32)])

    def __len__(self):
        return 20_000

    def __getitem__(self, index):
        raw = np.frombuffer(self.bucket.get(index), dtype=np.uint8)
        return torch.from_numpy(raw.copy()).reshape(3, 128, 128), index % 10


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
loader = DataLoader(Arrays(), batch_size=32, shuffle=True, num_workers=4, pin_memory=True)
model = models.resnet50(num_classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started = time.time()
for step, (images, labels) in enumerate(loader, 1):
    images = images.cuda(non_blocking=True).float() / 255
    loss = torch.nn.functional.cross_entropy(model(images), labels.cuda(non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}")
    if time.time() - started > args.seconds:
        break
