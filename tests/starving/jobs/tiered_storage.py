"""Trains on measurements of which a few still lie in the archive tier."""

import argparse
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Measurements(Dataset):
    def __init__(self, count=400_000, archived_every=150):
        self.count = count
        self.archived_every = archived_every
        self.values = torch.randn(1024, 4, 1000)

    def __len__(self):
        return self.count

    def restore(self, index):
        time.sleep(0.9)  # what the archive takes to answer

    def __getitem__(self, index):
        if index % self.archived_every == 0:
            self.restore(index)
        return self.values[index % 1024], index % 5


def convnet():
    blocks, width = [], 4
    for out in (64, 128, 256, 256):
        blocks += [
            torch.nn.Conv1d(width, out, 9, padding=4),
            torch.nn.BatchNorm1d(out),
            torch.nn.ReLU(inplace=True),
            torch.nn.MaxPool1d(2),
        ]
        width = out
    return torch.nn.Sequential(
        *blocks, torch.nn.AdaptiveAvgPool1d(1), torch.nn.Flatten(), torch.nn.Linear(width, 5)
    )


def run(seconds):
    device = torch.device("cuda:0")
    loader = DataLoader(
        Measurements(), 64, num_workers=2, shuffle=True, pin_memory=True, prefetch_factor=4
    )
    model = convnet().to(device)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    stop = time.perf_counter() + seconds
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        print(f"step {step + 1}")
        if time.perf_counter() > stop:
            break


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("data")
    cli.add_argument("--seconds", type=float, default=8)
    run(cli.parse_args().seconds)
