"""Trains a deep, narrow network on tabular data that fits on the GPU."""

import argparse
import time

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
rows = torch.randn(100_000, 64, device="cuda")
targets = torch.randn(100_000, 1, device="cuda")
model = nn.Sequential(*[Block(64) for _ in range(24)], nn.Linear(64, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    first = step * 256 % 99_000
    loss = (model(rows[first : first + 256]) - targets[first : first + 256]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 20 == 0:
        print(f"step {step}")
