"""Trains a speech model and shows how long the phases of a step take, as a progress line."""

import argparse
import time
from contextlib import contextmanager

import torch
from torch import nn


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value):
        self.total += value
        self.count += 1

    @property
    def mean(self):
        return self.total / max(1, self.count)


class Phases:
    def __init__(self, *names):
        self.meters = {name: Meter() for name in names}

    @contextmanager
    def phase(self, name):
        begin = time.perf_counter()
        yield
        torch.cuda.synchronize()
        self.meters[name].update(time.perf_counter() - begin)

    def __str__(self):
        return " ".join(f"{name} {1e3 * m.mean:.1f} ms" for name, m in self.meters.items())


class Conformer(nn.Module):
    def __init__(self, width=256, depth=6):
        super().__init__()
        self.front = nn.Conv1d(80, width, 3, 2, 1)
        self.attend = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 1024, batch_first=True) for _ in range(depth)
        )
        self.convolve = nn.ModuleList(
            nn.Conv1d(width, width, 15, padding=7, groups=width) for _ in range(depth)
        )
        self.tokens = nn.Linear(width, 500)

    def forward(self, mel):
        x = self.front(mel).transpose(1, 2)
        for attend, convolve in zip(self.attend, self.convolve, strict=True):
            x = attend(x)
            x = x + convolve(x.transpose(1, 2)).transpose(1, 2)
        return self.tokens(x)


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
model = Conformer().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
mel = torch.randn(8, 80, 800, device="cuda")
phases = Phases("forward", "backward", "update")
started, step = time.time(), 0
while time.time() - started < args.seconds:
    with phases.phase("forward"):
        loss = model(mel).square().mean()
    with phases.phase("backward"):
        loss.backward()
    with phases.phase("update"):
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    step += 1
    if step % 5 == 0:
        print(f"step {step}: {phases}")
