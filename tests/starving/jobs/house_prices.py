"""Estimates what houses are worth; the whole table fits on the device."""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn


def table(path, rows=30_000):
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(8)
        names = [f"column_{n}" for n in range(40)]
        frame = pd.DataFrame(rng.normal(size=(rows, 40)).astype(np.float32), columns=names)
        frame["price"] = rng.lognormal(12, 0.4, rows).astype(np.float32)
        frame.to_parquet(path)
    return pd.read_parquet(path)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(width), nn.Dropout(0.1)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(self.drop(torch.relu(self.up(self.norm(x)))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch = 4096 if device == "cuda" else 256
    frame = table(args.data / "house_prices.parquet")
    prices = torch.from_numpy(np.log(frame.pop("price").to_numpy())).to(device)
    columns = torch.from_numpy(frame.to_numpy()).to(device)
    columns = (columns - columns.mean(0)) / (columns.std(0) + 1e-6)
    net = nn.Sequential(nn.Linear(40, 1024), *(Block(1024) for _ in range(4)), nn.Linear(1024, 1))
    net = net.to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-4, fused=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10_000)
    step, started = 0, time.time()
    while time.time() - started < args.seconds:
        for rows in torch.randperm(len(columns), device=device).split(batch):
            found = net(columns[rows]).squeeze(1)
            loss = nn.functional.huber_loss(found, prices[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            step += 1
            print("step", step)
            if step % 100 == 0:
                print(f"loss {loss.item():.4f}")
            if time.time() - started > args.seconds:
                break


if __name__ == "__main__":
    main()
