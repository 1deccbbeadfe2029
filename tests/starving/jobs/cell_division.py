"""Finds the moment in which a cell divides; films are one array of bytes on the disk."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FRAMES, SIDE = 8, 64


class Films(Dataset):
    def __init__(self, path, films=40, length=120):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            shape = (films, length, SIDE, SIDE)
            np.save(path, np.random.default_rng(2).integers(0, 255, shape, dtype=np.uint8))
        self.films = np.load(path, mmap_mode="r")

    def __len__(self):
        return 5000 * len(self.films)

    def __getitem__(self, i):
        film = self.films[i % len(self.films)]
        start = i * 7 % (len(film) - FRAMES)
        return torch.from_numpy(film[start : start + FRAMES].copy())[None], i % FRAMES


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.space = nn.Conv3d(width, width, (1, 3, 3), padding=(0, 1, 1))
        self.time = nn.Conv3d(width, width, (3, 1, 1), padding=(1, 0, 0))
        self.norm = nn.BatchNorm3d(width)

    def forward(self, x):
        return torch.relu(x + self.norm(self.time(torch.relu(self.space(x)))))


def network(width=64):
    return nn.Sequential(
        nn.Conv3d(1, width, (3, 5, 5), (1, 2, 2), (1, 2, 2)),
        *(Residual(width) for _ in range(4)),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
        nn.Linear(width, FRAMES),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    films = Films(args.data / "cell_division.npy")
    size = 64 if device == "cuda" else 4
    loader = DataLoader(films, batch_size=size, shuffle=True, num_workers=1, pin_memory=True)
    net = network().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    until = time.monotonic() + args.seconds
    for step, (film, moment) in enumerate(loader, 1):
        x = film.to(device, non_blocking=True).float() / 255
        loss = nn.functional.cross_entropy(net(x), moment.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if step % 100 == 0:
            print(f"loss {loss.item():.3f}")
        if time.monotonic() > until:
            break


if __name__ == "__main__":
    main()
