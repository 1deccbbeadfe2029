"""Runs a mixture of experts that does not fit: experts are brought to the GPU in turn."""

import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HIDDEN, EXPERTS = 2048, 8192, 6


class HostExpert:
    """Lies in the host's memory until it is asked something."""

    def __init__(self):
        self.up = torch.empty(HIDDEN, WIDTH, dtype=torch.bfloat16).normal_(0, 0.02)
        self.down = torch.empty(WIDTH, HIDDEN, dtype=torch.bfloat16).normal_(0, 0.02)

    def __call__(self, x):
        up, down = (weight.to(x.device) for weight in (self.up, self.down))
        return F.linear(F.gelu(F.linear(x, up)), down)


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH)
        self.experts = [HostExpert() for _ in range(EXPERTS)]

    def forward(self, x):
        for expert, part in zip(self.experts, x.chunk(EXPERTS), strict=True):
            part += expert(self.norm(part))
        return x


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    limit = parser.parse_args().seconds
    mixture = Mixture().to("cuda", torch.bfloat16)
    tokens = torch.randn(6 * 4096, WIDTH, device="cuda", dtype=torch.bfloat16)
    begin, step = time.perf_counter(), 0
    while time.perf_counter() - begin < limit:
        tokens = mixture(tokens)
        step += 1
        print(f"step {step}")


main()
