"""Fits a network to a small set again and again: an epoch is a handful of batches."""

import argparse
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

images = torch.rand(320, 3, 160, 160)
labels = torch.randint(0, 10, (320,))
loader = DataLoader(
    TensorDataset(images, labels),
    batch_size=64,
    shuffle=True,
    num_workers=2,
    pin_memory=True,
)
model = models.resnet18(num_classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
start, step = time.perf_counter(), 0
while time.perf_counter() - start < args.seconds:
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    print(f"step {step}")
