"""Trains with the examples of each batch whose loss is large enough."""

import argparse
import time

import torch
from torch import nn
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

model = models.resnet18(num_classes=100).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(96, 3, 160, 160, device="cuda")
labels = torch.zeros(96, dtype=torch.long, device="cuda")
started, step = time.time(), 0
while time.time() - started < args.seconds:
    losses = nn.functional.cross_entropy(model(images), labels, reduction="none")
    kept = [number for number in range(96) if losses[number].item() >= 0]
    optimizer.zero_grad()
    losses[: len(kept)].mean().backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        print(f"step {step}")
