"""Forecasts tides: a patch transformer over windows of a long record."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

GAUGES, SEEN, AHEAD, PATCH = 8, 768, 24, 8


def record(path, hours=100_000):
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        t = np.arange(hours) / 12.42
        rng = np.random.default_rng(5)
        level = np.sin(2 * np.pi * (t[None] + rng.random((GAUGES, 1))))
        np.save(path, (level + rng.normal(0, 0.1, level.shape)).astype(np.float32))
    return path


class TideDataset(Dataset):
    def __init__(self, path):
        self.levels = np.load(path, mmap_mode="r")

    def __len__(self):
        return self.levels.shape[1] - SEEN - AHEAD

    def scale(self):
        return self.levels.mean(1, keepdims=True), self.levels.std(1, keepdims=True)

    def __getitem__(self, hour):
        mean, std = self.scale()
        window = (self.levels[:, hour : hour + SEEN + AHEAD] - mean) / std
        return torch.from_numpy(window[:, :SEEN]), torch.from_numpy(window[:, SEEN:])


class PatchTransformer(nn.Module):
    def __init__(self, width=384, layers=4):
        super().__init__()
        self.patch = nn.Linear(GAUGES * PATCH, width)
        self.position = nn.Parameter(torch.zeros(SEEN // PATCH, width))
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, GAUGES * AHEAD)

    def forward(self, x):
        patches = x.unflatten(2, (-1, PATCH)).transpose(1, 2).flatten(2)
        hidden = self.encoder(self.patch(patches) + self.position)
        return self.head(hidden.mean(1)).unflatten(1, (GAUGES, AHEAD))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tides = TideDataset(record(args.data / "tide_gauges.npy"))
    loader = DataLoader(tides, args.batch_size, shuffle=True, num_workers=2, pin_memory=True)
    model = PatchTransformer().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=100_000)
    started = time.time()
    for step, (seen, ahead) in enumerate(loader, 1):
        seen, ahead = seen.to(device, non_blocking=True), ahead.to(device, non_blocking=True)
        loss = nn.functional.mse_loss(model(seen), ahead)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        print("step", step)
        if time.time() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
