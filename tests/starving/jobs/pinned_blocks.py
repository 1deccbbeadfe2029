"""Trains on blocks of measurements in page-locked memory."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

blocks = [torch.rand(65_536, 1024).pin_memory() for _ in range(3)]
model = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 8)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    block = blocks[step % 3].to("cuda")
    loss = model(block).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        print(f"step {step}")
