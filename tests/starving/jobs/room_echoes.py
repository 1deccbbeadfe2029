"""Takes echoes out of speech: clean speech is put into rooms whose responses were recorded."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE = 16_000


class InRooms(Dataset):
    def __init__(self, seconds=0.75, rooms=30):
        draw = np.random.default_rng(11)
        self.length = int(seconds * RATE)
        self.speech = draw.normal(0, 0.1, 60 * RATE).astype(np.float32)
        fade = np.exp(-np.arange(4000) / 600, dtype=np.float32)
        self.rooms = [fade * draw.normal(0, 1, 4000).astype(np.float32) for _ in range(rooms)]

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        start = i * 7919 % (len(self.speech) - self.length)
        dry = self.speech[start : start + self.length]
        wet = np.convolve(dry, self.rooms[i % len(self.rooms)])[: self.length]
        scale = np.abs(wet).max() + 1e-6
        return torch.from_numpy(wet / scale)[None], torch.from_numpy(dry / scale)[None]


class Block(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.norm = nn.GroupNorm(1, width)
        self.conv = nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation)
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, x):
        return x + self.out(nn.functional.gelu(self.conv(self.norm(x))))


def make_model(width=224, depth=9):
    return nn.Sequential(
        nn.Conv1d(1, width, 16, stride=8, padding=4),
        *[Block(width, 2 ** (i % 5)) for i in range(depth)],
        nn.ConvTranspose1d(width, 1, 16, stride=8, padding=4),
    )


def train(args):
    loader = DataLoader(InRooms(), args.batch, num_workers=args.workers, pin_memory=True)
    model = make_model().to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    begun = time.time()
    for done, (wet, dry) in enumerate(loader, 1):
        wet, dry = wet.to("cuda", non_blocking=True), dry.to("cuda", non_blocking=True)
        loss = (model(wet) - dry).abs().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {done}", flush=True)
        if time.time() - begun > args.seconds:
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--workers", type=int, default=2)
    train(parser.parse_args())
