"""Segments volumes that lie in host memory: batches are large, the network is not."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

volumes = torch.rand(8, 4, 1, 96, 192, 192)
masks = torch.zeros(8, 4, 1, 96, 192, 192)
model = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv3d(8, 1, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    volume = volumes[step % 8].cuda()
    mask = masks[step % 8].cuda()
    loss = nn.functional.binary_cross_entropy_with_logits(model(volume), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 5 == 0:
        print(f"step {step}")
