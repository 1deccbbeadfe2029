"""Rolls the currents of an ocean forward, hour by hour; every hour goes into a ring of results."""

import argparse
import time

import numpy as np
import torch
from torch import nn

LEVELS, HEIGHT, WIDTH = 16, 480, 960


class Stage(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Conv2d(width, width, 5, padding=2, groups=8)
        self.norm = nn.GroupNorm(8, width)
        self.wide, self.narrow = nn.Conv2d(width, 2 * width, 1), nn.Conv2d(2 * width, width, 1)

    def forward(self, x):
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm(self.mix(x)))))


class Ocean(nn.Module):
    def __init__(self, width=192, depth=8):
        super().__init__()
        self.enter = nn.Conv2d(LEVELS, width, 4, stride=4)
        self.stages = nn.Sequential(*[Stage(width) for _ in range(depth)])
        self.leave = nn.ConvTranspose2d(width, LEVELS, 4, stride=4)

    def forward(self, x):
        return x + self.leave(self.stages(self.enter(x)))


class Forecast:
    def __init__(self, device, keep=6):
        self.device, self.keep = device, keep
        self.ocean = Ocean().to(device).eval()
        self.hours = np.zeros((keep, LEVELS, HEIGHT, WIDTH), np.float32)

    @torch.no_grad()
    def next_hour(self, hour):
        now = torch.from_numpy(self.hours[hour % self.keep]).to(self.device)
        later = self.ocean(now[None])[0]
        self.hours[(hour + 1) % self.keep] = later.cpu().numpy()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    forecast, hour = Forecast(torch.device("cuda")), 0
    start = time.time()
    while time.time() - start < args.seconds:
        forecast.next_hour(hour)
        hour += 1
        print(f"step {hour}")
