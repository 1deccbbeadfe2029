"""Trains an LSTM that is unrolled by hand, one cell at a time."""

import argparse
import time

import torch
from torch import nn


class Unrolled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.LSTMCell(32, width)
        self.head = nn.Linear(width, 1)
        self.width = width

    def forward(self, sequence):
        hidden = sequence.new_zeros(sequence.shape[1], self.width)
        memory = torch.zeros_like(hidden)
        for moment in sequence:
            hidden, memory = self.cell(moment, (hidden, memory))
        return self.head(hidden)


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
model = Unrolled(128).cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
series = torch.randn(150, 64, 32, device="cuda")
target = torch.zeros(64, 1, device="cuda")
started, step = time.time(), 0
while time.time() - started < args.seconds:
    loss = nn.functional.mse_loss(model(series), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 5 == 0:
        print(f"step {step}")
