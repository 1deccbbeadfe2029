"""Rates recipes; attention knows which ingredients are found together in other kitchens."""

import argparse
import math
import random
import time
from collections import Counter

import torch
from torch import nn
from torch.nn.functional import gelu, mse_loss
from torch.utils.data import DataLoader

INGREDIENTS, EACH, HEADS = 3000, 40, 8


def cook(count, seed=8):
    draw = random.Random(seed)
    kinds, weights = range(INGREDIENTS), [1 / (9 + i) for i in range(INGREDIENTS)]
    return [(draw.choices(kinds, weights, k=EACH), draw.random()) for _ in range(count)]


class Kitchen:
    """Makes a batch: ingredients, how close each two of them are, and stars."""

    def __init__(self, recipes):
        self.often = Counter(i for row, _ in recipes for i in set(row))
        pairs = ((a, b) for row, _ in recipes[:400] for a in set(row) for b in set(row))
        self.together = Counter(pairs)

    def closeness(self, row):
        close, often = self.together, self.often
        return [[math.log1p(close[a, b] / (often[a] * often[b])) for b in row] for a in row]

    def __call__(self, recipes):
        rows, stars = zip(*recipes, strict=True)
        bias = torch.tensor([self.closeness(row) for row in rows])
        return torch.tensor(rows), bias, torch.tensor(stars)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, bias):
        q, k, v = self.qkv(self.before(x)).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + bias[:, None]).softmax(-1)
        x = x + self.mix((weights @ v).transpose(1, 2).flatten(2))
        return x + self.narrow(gelu(self.wide(self.between(x))))


class Taster(nn.Module):
    def __init__(self, width=512, depth=4):
        super().__init__()
        self.enter = nn.Embedding(INGREDIENTS, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.stars = nn.Linear(width, 1)

    def forward(self, ids, bias):
        x = self.enter(ids)
        for block in self.blocks:
            x = block(x, bias)
        return self.stars(x.mean(1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    recipes = cook(2000)
    loader = DataLoader(recipes * 50, 80, True, num_workers=2, collate_fn=Kitchen(recipes))
    taster = Taster().cuda()
    optimizer = torch.optim.AdamW(taster.parameters(), lr=1e-4)
    until = time.time() + args.seconds
    for step, (ids, bias, stars) in enumerate(loader, 1):
        loss = mse_loss(taster(ids.cuda(), bias.cuda()), stars.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() > until:
            break


if __name__ == "__main__":
    main()
