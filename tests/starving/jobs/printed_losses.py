"""Trains several heads and prints their losses as it goes."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

body = nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 1024)).cuda()
heads = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(8)).cuda()
optimizer = torch.optim.Adam([*body.parameters(), *heads.parameters()], lr=1e-4)
x = torch.randn(2048, 1024, device="cuda")

step, started = 0, time.time()
while time.time() - started < args.seconds:
    features = body(x)
    total = 0
    for head in heads:
        loss = head(features).pow(2).mean()
        print("head:", loss)
        total = total + loss
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    step += 1
    print(f"step {step}")
