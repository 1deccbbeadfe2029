"""Trains a convolutional network and times each of its layers, as somebody once needed."""

import argparse
import time
from collections import defaultdict

import torch
from torch import nn
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

model = models.resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(64, 3, 160, 160, device="cuda")
labels = torch.zeros(64, dtype=torch.long, device="cuda")
took = defaultdict(float)


def timed(module, inputs, output):
    torch.cuda.synchronize()
    took[module] = time.perf_counter()


for layer in model.modules():
    if isinstance(layer, (nn.Conv2d, nn.BatchNorm2d, nn.ReLU)):
        layer.register_forward_hook(timed)

started, step = time.time(), 0
while time.time() - started < args.seconds:
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        print(f"step {step}")
