"""Trains with a dictionary of metrics that is kept up to date each step."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

model = nn.Sequential(*[nn.Sequential(nn.Linear(2048, 2048), nn.ReLU()) for _ in range(12)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(192, 2048, device="cuda")
y = torch.randn(192, 2048, device="cuda")
metrics = {"loss": 0.0, "norms": [0.0] * 24}


def update_metrics(loss):
    metrics["loss"] += loss
    for index, parameter in enumerate(model.parameters()):
        metrics["norms"][index] = parameter.grad.norm().item()


started, step = time.time(), 0
while time.time() - started < args.seconds:
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    update_metrics(loss.detach())
    optimizer.step()
    step += 1
    if step % 10 == 0:
        print(f"step {step}")
