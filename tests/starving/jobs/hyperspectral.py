"""Crops from the air in many wavelengths; the cubes fit in this machine's memory."""

import argparse
import time

import numpy as np
import torch
from torch import nn

BANDS, SIDE = 128, 96


class Field:
    def __init__(self, cubes):
        self.cubes = np.zeros((cubes, BANDS, SIDE, SIDE))
        self.crops = np.zeros((cubes, SIDE, SIDE), np.int64)

    def batches(self, size):
        while True:
            for first in range(0, len(self.cubes) - size + 1, size):
                yield self.cubes[first : first + size], self.crops[first : first + size]


class Spectral(nn.Module):
    def __init__(self, width=160, kinds=14):
        super().__init__()
        self.bands = nn.Conv2d(BANDS, width, 1)
        self.space = nn.ModuleList(
            nn.Sequential(
                *[nn.Conv2d(width, width, 5, padding=2, groups=width), nn.BatchNorm2d(width)],
                *[nn.Conv2d(width, 4 * width, 1), nn.GELU(), nn.Conv2d(4 * width, width, 1)],
            )
            for _ in range(8)
        )
        self.kinds = nn.Conv2d(width, kinds, 1)

    def forward(self, x):
        x = self.bands(x)
        for block in self.space:
            x = x + block(x)
        return self.kinds(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = torch.device("cuda")
    model = Spectral().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    begin = time.time()
    for step, (cube, crops) in enumerate(Field(40).batches(10), 1):
        x = torch.from_numpy(cube).to(device)
        y = torch.from_numpy(crops).to(device)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.float()), y).backward()
        optimizer.step()
        print("step", step)
        if time.time() - begin > args.seconds:
            break


if __name__ == "__main__":
    main()
