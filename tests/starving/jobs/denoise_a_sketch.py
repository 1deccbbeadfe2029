"""Draws sketches with a small diffusion model: fifty steps from noise to a picture."""

import argparse
import math
import time

import torch
from torch import nn


def timestep_embedding(t, width):
    frequencies = torch.exp(
        torch.arange(width // 2, device=t.device) * (-math.log(10_000) / (width // 2))
    )
    angles = t[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class ResBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm, self.conv = nn.GroupNorm(8, channels), nn.Conv2d(channels, channels, 3, 1, 1)
        self.time = nn.Linear(64, channels)

    def forward(self, x, t):
        return x + self.conv(nn.functional.silu(self.norm(x)) + self.time(t)[..., None, None])


class SketchUNet(nn.Module):
    def __init__(self, channels=64, depth=10):
        super().__init__()
        self.enter = nn.Conv2d(1, channels, 3, 1, 1)
        self.blocks = nn.ModuleList(ResBlock(channels) for _ in range(depth))
        self.leave = nn.Conv2d(channels, 1, 3, 1, 1)

    def forward(self, x, t):
        t, x = timestep_embedding(t, 64), self.enter(x)
        for block in self.blocks:
            x = block(x, t)
        return self.leave(x)


class Sampler:
    def __init__(self, model, steps):
        self.model, self.steps = model, steps
        self.alphas = torch.linspace(0.999, 0.01, steps).tolist()

    @torch.inference_mode()
    def draw(self, count, on_step):
        x = torch.randn(count, 1, 28, 28, device="cuda")
        for i in reversed(range(self.steps)):
            t = torch.full((count,), float(i), device="cuda")
            noise = self.model(x, t)
            a = self.alphas[i]
            x = (x - math.sqrt(1 - a) * noise) / math.sqrt(a)
            x = x.clamp(-1, 1) * math.sqrt(a) + math.sqrt(1 - a) * noise
            on_step()
        return x


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
sampler = Sampler(SketchUNet().cuda().eval(), 50)
done, end = 0, time.time() + args.seconds


def count_step():
    global done
    done += 1
    if done % 10 == 0:
        print("step", done)


while time.time() < end:
    sampler.draw(4, count_step)
