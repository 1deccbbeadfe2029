"""Finds irregular heart beats in long recordings, window by window."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

LEADS, WINDOW = 4, 2048


class Windows(Dataset):
    """Recordings were scaled when they were stored; a window is a slice of them."""

    def __init__(self, path, samples=2_000_000):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            drawn = np.random.default_rng(4).normal(size=(samples, LEADS))
            np.save(path, drawn.astype(np.float16))
        self.signal = np.load(path, mmap_mode="r")

    def __len__(self):
        return 20 * (len(self.signal) // WINDOW)

    def __getitem__(self, i):
        start = i * WINDOW // 21
        return torch.from_numpy(self.signal[start : start + WINDOW].copy()), i % 5


class Unit(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.first = nn.Conv1d(width, width, 7, padding=3 * dilation, dilation=dilation)
        self.second, self.norm = nn.Conv1d(width, width, 7, padding=3), nn.BatchNorm1d(width)

    def forward(self, x):
        return torch.relu(x + self.norm(self.second(torch.relu(self.first(x)))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--width", type=int, default=192)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(
        Windows(args.data / "ecg_beats.npy"),
        batch_size=64 if device == "cuda" else 4,
        shuffle=True,
        num_workers=1,
        pin_memory=True,
        persistent_workers=True,
    )
    net = nn.Sequential(
        nn.Conv1d(LEADS, args.width, 15, 2, 7),
        *(Unit(args.width, dilation) for dilation in (1, 2, 4, 8, 16)),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(args.width, 5),
    ).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    step, stop = 0, time.monotonic() + args.seconds
    while time.monotonic() < stop:
        for signal, kinds in loader:
            x = signal.to(device, non_blocking=True).float().transpose(1, 2)
            loss = nn.functional.cross_entropy(net(x), kinds.to(device, non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print("step", step)
            if step % 100 == 0:
                print(f"loss {loss.item():.3f}")
            if time.monotonic() > stop:
                break


if __name__ == "__main__":
    main()
