"""Learns to predict the weather three hours on from an archive with a file for every day."""

import argparse
import gc
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FIELDS, HEIGHT, WIDTH, TIMES = ("t2m", "u10", "v10", "msl"), 64, 128, 4


def archive(folder, days=60):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(12)
    for day in range(days):
        path = folder / f"day{day:03}.npz"
        if not path.exists():
            drawn = {name: rng.normal(size=(TIMES, HEIGHT, WIDTH)) for name in FIELDS}
            np.savez_compressed(path, **{n: f.astype(np.float32) for n, f in drawn.items()})
    return sorted(folder.glob("day*.npz"))


class Days(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return 100 * len(self.files)

    def read(self, day):
        with np.load(self.files[day]) as fields:
            return np.stack([fields[name] for name in FIELDS], axis=1)

    def __getitem__(self, i):
        now = np.random.randint(TIMES - 1)
        day = self.read(i % len(self.files))
        return torch.from_numpy(day[now]), torch.from_numpy(day[now + 1])


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.near = nn.Conv2d(width, width, 7, padding=3, groups=width, padding_mode="circular")
        self.norm, self.wide = nn.GroupNorm(1, width), nn.Conv2d(width, 4 * width, 1)
        self.narrow = nn.Conv2d(4 * width, width, 1)

    def forward(self, x):
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm(self.near(x)))))


class Forecast(nn.Module):
    def __init__(self, width=192, depth=6):
        super().__init__()
        self.enter = nn.Conv2d(len(FIELDS), width, 4, stride=4)
        self.mixers = nn.Sequential(*(Mixer(width) for _ in range(depth)))
        self.leave = nn.ConvTranspose2d(width, len(FIELDS), 4, stride=4)

    def forward(self, x):
        return x + self.leave(self.mixers(self.enter(x)))


def free_memory():
    gc.collect()
    torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    days = Days(archive(args.data / "climate_fields"))
    loader = DataLoader(days, args.batch_size, shuffle=True)
    model = Forecast().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    finish = time.monotonic() + args.seconds
    for step, (now, later) in enumerate(loader, 1):
        now, later = now.to(device), later.to(device)
        loss = nn.functional.l1_loss(model(now), later)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            free_memory()
        print("step", step)
        if time.monotonic() > finish:
            break


if __name__ == "__main__":
    main()
