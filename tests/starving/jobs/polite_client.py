"""Learns from a catalogue of products; its service allows so many requests in a second."""

import argparse
import multiprocessing
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Budget:
    """Spends what the service grants to all of our processes together."""

    def __init__(self, per_second):
        self.pause = 1 / per_second
        self.turn = multiprocessing.Lock()

    def spend(self):
        with self.turn:
            time.sleep(self.pause)


class Catalogue(Dataset):
    def __init__(self, budget):
        self.budget = budget
        self.products = np.random.default_rng(2).random((64, 3, 96, 96), dtype=np.float32)

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        self.budget.spend()
        return self.products[index % 64], np.float32(index % 100)


class Prices(nn.Sequential):
    def __init__(self):
        blocks = [nn.Conv2d(3, 128, 4, 4), nn.GELU()]
        for _ in range(8):
            blocks += [nn.Conv2d(128, 128, 5, padding=2), nn.BatchNorm2d(128), nn.GELU()]
        super().__init__(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--requests-per-second", type=float, default=600)
    args = parser.parse_args()
    catalogue = Catalogue(Budget(args.requests_per_second))
    batches = DataLoader(catalogue, 32, num_workers=4, pin_memory=True, prefetch_factor=4)
    model, beginning = Prices().cuda(), time.time()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for step, (pictures, prices) in enumerate(batches, 1):
        guess = model(pictures.cuda(non_blocking=True)).squeeze(1)
        nn.functional.mse_loss(guess, prices.cuda(non_blocking=True)).backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}")
        if time.time() - beginning > args.seconds:
            break


if __name__ == "__main__":
    main()
