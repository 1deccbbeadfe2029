"""Trains a generator on two GPUs; the first rank writes a sheet of samples now and then."""

import argparse
import io
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from PIL import Image
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Generator(nn.Module):
    def __init__(self, z=128, width=64):
        super().__init__()
        layers, channels = [nn.ConvTranspose2d(z, 8 * width, 4)], 8 * width
        for _ in range(4):
            layers += [nn.BatchNorm2d(channels), nn.ReLU(True)]
            layers += [nn.ConvTranspose2d(channels, channels // 2, 4, 2, 1)]
            channels //= 2
        self.body = nn.Sequential(*layers, nn.ReLU(True), nn.Conv2d(channels, 3, 3, padding=1))

    def forward(self, z):
        return self.body(z).tanh()


class Reporter:
    def __init__(self):
        self.canvas = np.random.default_rng(0).integers(0, 255, (1024, 1024, 3), dtype=np.uint8)

    def sheet(self, step):
        self.canvas[:8] = step % 255
        Image.fromarray(self.canvas).save(io.BytesIO(), "png")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    is_main = dist.get_rank() == 0
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    generator = DistributedDataParallel(Generator().cuda())
    adam = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.99))
    reporter, start = Reporter(), time.time()
    for step in range(1, 1_000_000):
        z = torch.randn(256, 128, 1, 1, device="cuda")
        loss = generator(z).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        if is_main and step % 2 == 0:
            reporter.sheet(step)
            print(f"step {step}")
        if step % 10 == 0:
            over = [time.time() - start > args.seconds]
            dist.broadcast_object_list(over)
            if over[0]:
                break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
