"""Trains a denoiser on latents that stay on the GPU, with mixed precision and averaged weights."""

import argparse
import time

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.GroupNorm(32, width),
            nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.GroupNorm(32, width),
            nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1),
        )

    def forward(self, x):
        return x + self.body(x)


def denoiser(width=512, depth=8):
    blocks = [Residual(width) for _ in range(depth)]
    return nn.Sequential(
        nn.Conv2d(4, width, 3, padding=1), *blocks, nn.Conv2d(width, 4, 3, padding=1)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    unet = denoiser().cuda()
    average = [p.detach().clone() for p in unet.parameters()]
    optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler("cuda")
    latents = torch.randn(128, 4, 32, 32, device="cuda")
    deadline, step = time.time() + args.seconds, 0
    while time.time() < deadline:
        noise = torch.randn_like(latents)
        with torch.autocast("cuda", torch.float16):
            loss = nn.functional.mse_loss(unet(latents + noise), noise)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        torch._foreach_lerp_(average, [p.detach() for p in unet.parameters()], 1e-3)
        step += 1
        print(f"step {step}")


main()
