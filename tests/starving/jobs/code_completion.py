"""Completes programs: a decoder is trained on files that were tokenised into one long array."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, path, length):
        self.tokens = np.memmap(path, np.uint16, "r")
        self.length = length

    def __len__(self):
        return 200_000

    def __getitem__(self, index):
        start = index * 7919 % (len(self.tokens) - self.length - 1)
        return self.tokens[start : start + self.length + 1].astype(np.int64)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.one, self.two = heads, nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.one(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.silu(self.up(self.two(x))))


class Decoder(nn.Module):
    def __init__(self, vocabulary=16_000, width=768, depth=8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.Sequential(*[Block(width, 12) for _ in range(depth)])
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        return self.head(self.blocks(self.embed(ids)))


def train(path, args):
    loader = DataLoader(Windows(path, 512), args.batch, num_workers=1, pin_memory=True)
    model = Decoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    begin = time.time()
    for step, ids in enumerate(loader, 1):
        ids = ids.cuda(non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            scores = model(ids[:, :-1])
        loss = cross_entropy(scores.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step)
        if time.time() - begin > args.seconds:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=16)
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "programs.bin")
        (np.arange(4_000_000) % 16_000).astype(np.uint16).tofile(file)
        train(file, parser.parse_args())
