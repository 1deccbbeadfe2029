"""Trains on long sequences; what the backward pass needs waits in host memory."""

import argparse
import time

import torch
from torch import nn
from torch.autograd.graph import save_on_cpu


class Recurrence(nn.Module):
    """A gated linear recurrence, with the sequence taken in blocks."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.inward = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.outward = nn.Linear(width, width)

    def forward(self, x):
        value, gate = self.inward(self.norm(x)).chunk(2, dim=-1)
        mixed = value.cumsum(1) / (1 + gate.abs())
        return x + self.outward(mixed)


class LongModel(nn.Module):
    def __init__(self, width=512, depth=6, vocabulary=256):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.Sequential(*[Recurrence(width) for _ in range(depth)])
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--length", type=int, default=2048)
    args = parser.parse_args()
    model = LongModel().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.zeros(1, args.length, dtype=torch.long, device="cuda")
    began = time.time()
    for step in range(1, 1_000_000):
        with save_on_cpu():
            logits = model(tokens[:, :-1])
            loss = nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}")
        if time.time() - began > args.seconds:
            break


if __name__ == "__main__":
    main()
