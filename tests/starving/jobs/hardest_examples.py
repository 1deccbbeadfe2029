"""Trains with the hardest examples of each batch, which are chosen on the host."""

import argparse
import time

import torch
from torch import nn
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

model = models.resnet50(num_classes=100).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(32, 3, 128, 128, device="cuda")
labels = torch.zeros(32, dtype=torch.long, device="cuda")
started, step = time.time(), 0
while time.time() - started < args.seconds:
    losses = nn.functional.cross_entropy(model(images), labels, reduction="none")
    order = losses.detach().cpu().argsort()
    hardest = order[-24:].cuda()
    optimizer.zero_grad()
    losses[hardest].mean().backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        print(f"step {step}")
