"""Trains from memory and keeps statistics of the inputs in Python."""

import argparse
import time

import torch
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

model = models.resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(48, 3, 160, 160, device="cuda")
labels = torch.zeros(48, dtype=torch.long, device="cuda")
seen = {}


def count_words(step):
    for number in range(300_000):
        key = (number * step) % 1000
        seen[key] = seen.get(key, 0) + 1


step, started = 0, time.time()
while time.time() - started < args.seconds:
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    count_words(step)
    if step % 5 == 0:
        print(f"step {step}")
