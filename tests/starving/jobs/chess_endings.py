"""Learns who wins endings of chess; blocks of the tables are unpacked once, for all workers."""

import argparse
import multiprocessing
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PLANES, IN_BLOCK = 14, 64


class Endings(Dataset):
    def __init__(self, blocks=150):
        draw = np.random.default_rng(64)
        self.count = blocks * IN_BLOCK
        self.unpacked = multiprocessing.Manager().dict()
        for block in range(blocks):
            pieces = draw.integers(0, 2, (IN_BLOCK, PLANES, 8, 8), np.uint8)
            self.unpacked[block] = pieces

    def __len__(self):
        return 50 * self.count

    def __getitem__(self, index):
        block, position = divmod(index % self.count, IN_BLOCK)
        board = self.unpacked[block][position]
        return torch.from_numpy(board.astype(np.float32)), index % 3


class Tower(nn.Module):
    def __init__(self, width=256, depth=10):
        super().__init__()
        self.enter = nn.Conv2d(PLANES, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(width, width, 3, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(),
                nn.Conv2d(width, width, 3, padding=1, bias=False),
                nn.BatchNorm2d(width),
            )
            for _ in range(depth)
        )
        self.winner = nn.Linear(width, 3)

    def forward(self, board):
        x = self.enter(board).relu()
        for block in self.blocks:
            x = (x + block(x)).relu()
        return self.winner(x.mean((2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=192)
    args = parser.parse_args()
    loader = DataLoader(Endings(), args.batch, shuffle=True, num_workers=3, pin_memory=True)
    tower = Tower().cuda()
    optimizer = torch.optim.SGD(tower.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    begin = time.time()
    for step, (boards, winners) in enumerate(loader, 1):
        guess = tower(boards.cuda(non_blocking=True))
        loss = nn.functional.cross_entropy(guess, winners.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.time() - begin > args.seconds:
            break


if __name__ == "__main__":
    main()
