"""Trains on uploads of large arrays and grades the answers in Python after each step."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

arrays = [torch.rand(4096, 4096) for _ in range(4)]
words = [f"word{i}" for i in range(20_000)]


def grade(step):
    wanted = {word: index for index, word in enumerate(words)}
    return sum(wanted.get(f"word{(i * step) % 25_000}", 0) for i in range(60_000))


model = nn.Sequential(nn.Linear(4096, 1024), nn.ReLU(), nn.Linear(1024, 16)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    array = arrays[step % 4].to("cuda")
    loss = model(array).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    grade(step)
    if step % 5 == 0:
        print(f"step {step}")
