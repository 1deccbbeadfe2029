"""Learns what wines are like, as a normalizing flow over what the laboratory measures of them."""

import argparse
import math
import time

import torch
from torch import nn

MEASURES = 12


class Coupling(nn.Module):
    """Half of the measures say how the other half is stretched and moved."""

    def __init__(self, width, flip):
        super().__init__()
        half = MEASURES // 2
        self.flip = flip
        self.stretch = nn.Parameter(torch.zeros(half))
        self.net = nn.Sequential(
            nn.Linear(half, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, 2 * half),
        )

    def forward(self, x):
        kept, moved = x.chunk(2, dim=1)
        if self.flip:
            kept, moved = moved, kept
        scale, shift = self.net(kept).chunk(2, dim=1)
        scale = torch.tanh(scale) * self.stretch.exp()
        moved = moved * scale.exp() + shift
        parts = (moved, kept) if self.flip else (kept, moved)
        return torch.cat(parts, dim=1), scale.sum(1)


class Flow(nn.Module):
    def __init__(self, depth=28, width=96):
        super().__init__()
        self.couplings = nn.ModuleList(Coupling(width, i % 2 == 1) for i in range(depth))

    def forward(self, x):
        volume = x.new_zeros(len(x))
        for coupling in self.couplings:
            x, change = coupling(x)
            volume = volume + change
        return -0.5 * (x.square().sum(1) + MEASURES * math.log(2 * math.pi)) + volume


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=512)
    args = parser.parse_args()
    cellar = torch.randn(60_000, MEASURES, device="cuda")
    flow = Flow().cuda()
    optimizer = torch.optim.AdamW(flow.parameters(), lr=1e-3)
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        first = step * 512 % (len(cellar) - args.batch)
        loss = -flow(cellar[first : first + args.batch]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
