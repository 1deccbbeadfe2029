"""Says of density maps of proteins how well they are resolved; batches are slices of a file."""

import argparse
import time
from pathlib import Path

import h5py
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 24


def maps(path, count=2000):
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(14)
        with h5py.File(path, "w") as file:
            drawn = rng.normal(size=(count, SIDE, SIDE, SIDE)).astype(np.float16)
            file["maps"] = drawn
            file["resolved"] = rng.uniform(2, 9, count).astype(np.float32)
    return path


class Slices(Dataset):
    """An item is a batch: maps that lie side by side in the file."""

    def __init__(self, path, size):
        self.path, self.size, self.file = path, size, None
        with h5py.File(path) as file:
            self.starts = list(range(0, len(file["maps"]) - size + 1, size // 4))

    def __len__(self):
        return 50 * len(self.starts)

    def __getitem__(self, i):
        if self.file is None:
            self.file = h5py.File(self.path)
        start = self.starts[i % len(self.starts)]
        rows = slice(start, start + self.size)
        found, known = self.file["maps"][rows], self.file["resolved"][rows]
        return torch.from_numpy(found)[:, None], torch.from_numpy(known)


def network(width=64):
    layers, channels = [], 1
    for out, stride in ((width, 1), (width, 1), (2 * width, 2), (4 * width, 2)):
        layers += [nn.Conv3d(channels, out, 3, stride, 1), nn.BatchNorm3d(out), nn.ReLU(True)]
        channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(channels, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    slices = Slices(maps(args.data / "protein_maps.h5"), 96 if device == "cuda" else 8)
    loader = DataLoader(slices, batch_size=None, shuffle=True, num_workers=1, pin_memory=True)
    net = network().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    total, until = torch.zeros((), device=device), time.time() + args.seconds
    for step, (density, known) in enumerate(loader, 1):
        found = net(density.to(device, non_blocking=True).float()).squeeze(1)
        loss = nn.functional.smooth_l1_loss(found, known.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
        print("step", step)
        if step % 100 == 0:
            print(f"mean loss {total.item() / step:.3f}")
        if time.time() > until:
            break


if __name__ == "__main__":
    main()
