"""Trains with a guard against losses and gradients that are not numbers."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()


def healthy(model):
    for parameter in model.parameters():
        if torch.isnan(parameter.grad).any():
            return False
    return True


layers = [nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True) for _ in range(6)]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x = torch.randn(16, 256, 512, device="cuda")
started, step = time.time(), 0
while time.time() - started < args.seconds:
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    if healthy(model):
        optimizer.step()
    step += 1
    if step % 10 == 0:
        print(f"step {step}")
