"""Trains ResNet-50 on data that lies on the GPU."""

import argparse
import time

import torch
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

model = models.resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
data = torch.randn(8, 64, 3, 224, 224, device="cuda")
labels = torch.zeros(64, dtype=torch.long, device="cuda")
started, step = time.time(), 0
while time.time() - started < args.seconds:
    loss = torch.nn.functional.cross_entropy(model(data[step % 8]), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 5 == 0:
        print(f"step {step}")
