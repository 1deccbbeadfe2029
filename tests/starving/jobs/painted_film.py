"""Paints a film in the style of a picture; frames are kept until they are encoded."""

import argparse
import time
from collections import deque

import torch
from torch import nn


def conv(a, b, size, stride=1):
    return nn.Sequential(
        nn.ReflectionPad2d(size // 2), nn.Conv2d(a, b, size, stride), nn.InstanceNorm2d(b)
    )


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([conv(3, 32, 9), conv(32, 64, 3, 2), conv(64, 128, 3, 2)])
        self.body = nn.ModuleList(
            nn.Sequential(conv(128, 128, 3), nn.ReLU(), conv(128, 128, 3)) for _ in range(5)
        )
        self.up = nn.ModuleList([conv(128, 64, 3), conv(64, 32, 3)])
        self.out = nn.Conv2d(32, 3, 9, padding=4)

    def forward(self, x):
        for layer in self.down:
            x = layer(x).relu()
        for block in self.body:
            x = x + block(x)
        for layer in self.up:
            x = layer(nn.functional.interpolate(x, scale_factor=2)).relu()
        return self.out(x)


class Film:
    def __init__(self, height=720, width=1280, length=4):
        self.frames = torch.zeros(length, 4, 3, height, width, dtype=torch.uint8, device="cuda")

    def __getitem__(self, number):
        return self.frames[number % len(self.frames)]


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    painter, film = Painter().half().cuda().eval(), Film()
    to_encode = deque(maxlen=4)
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        painted = painter(film[step].half() / 255).clamp(0, 1).float()
        to_encode.append(painted.cpu())
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
