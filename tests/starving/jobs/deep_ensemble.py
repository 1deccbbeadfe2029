"""Trains an ensemble of regressors one after the other, for uncertainty."""

import argparse
import time

import torch
from torch import nn

FEATURES = 20


def member():
    return nn.Sequential(
        nn.Linear(FEATURES, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2)
    )


class Ensemble:
    def __init__(self, size):
        self.members = [member().cuda() for _ in range(size)]
        self.optimizers = [torch.optim.Adam(m.parameters(), 1e-3) for m in self.members]

    def update(self, x, y):
        for network, optimizer in zip(self.members, self.optimizers, strict=True):
            mean, log_variance = network(x).chunk(2, dim=1)
            nll = 0.5 * (log_variance + (y - mean).square() / log_variance.exp()).mean()
            optimizer.zero_grad()
            nll.backward()
            optimizer.step()


argument_parser = argparse.ArgumentParser()
argument_parser.add_argument("data")
argument_parser.add_argument("--seconds", type=float, default=8)
arguments = argument_parser.parse_args()
ensemble = Ensemble(10)
inputs = torch.randn(64_000, FEATURES, device="cuda")
outputs = inputs.sum(1, keepdim=True)
batch_size = 128
stop_at = time.monotonic() + arguments.seconds
step = 0
while time.monotonic() < stop_at:
    where = step * 128 % 32_000
    ensemble.update(inputs[where : where + batch_size], outputs[where : where + batch_size])
    step += 1
    if step % 5 == 0:
        print(f"step {step}")
