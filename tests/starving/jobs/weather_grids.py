"""Forecasts the weather of the next hour: every hour is a compressed file of grids."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FIELDS = ("wind_u", "wind_v", "pressure", "temperature", "humidity")


def archive(folder, hours=24):
    random = np.random.default_rng(7)
    for hour in range(hours):
        fields = {name: random.normal(size=(96, 144)).round(2).astype("f4") for name in FIELDS}
        np.savez_compressed(Path(folder, f"{hour:04d}.npz"), **fields)


class Hours(Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("*.npz"))

    def __len__(self):
        return 30_000

    def load(self, hour):
        with np.load(self.files[hour % len(self.files)]) as fields:
            return np.stack([fields[name] for name in FIELDS])

    def __getitem__(self, hour):
        return self.load(hour), self.load(hour + 1)


class Forecast(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.first = nn.Conv2d(len(FIELDS), width, 5, padding=2)
        self.middle = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(10))
        self.last = nn.Conv2d(width, len(FIELDS), 1)

    def forward(self, x):
        x = self.first(x)
        for layer in self.middle:
            x = x + nn.functional.gelu(layer(x))
        return self.last(x)


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("data")
    cli.add_argument("--seconds", type=float, default=8)
    cli.add_argument("--batch-size", type=int, default=8)
    cli.add_argument("--workers", type=int, default=1)
    args = cli.parse_args()
    model = Forecast().to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)
    with tempfile.TemporaryDirectory() as folder:
        archive(folder)
        batches = DataLoader(
            Hours(folder), args.batch_size, shuffle=True, num_workers=args.workers, pin_memory=True
        )
        t0 = time.monotonic()
        for step, (now, then) in enumerate(batches, start=1):
            now, then = now.to("cuda", non_blocking=True), then.to("cuda", non_blocking=True)
            optimizer.zero_grad()
            nn.functional.l1_loss(model(now), then).backward()
            optimizer.step()
            if step % 2 == 0:
                print("step", step)
            if time.monotonic() - t0 > args.seconds:
                break
