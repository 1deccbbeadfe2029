"""Reads from cubes of a spectrograph how fast galaxies turn."""

import argparse
import time
from pathlib import Path

import h5py
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

DEPTH, SIDE = 16, 32


def survey(path, count=400):
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(33)
        with h5py.File(path, "w") as file:
            for name in ("flux", "noise"):
                cubes = rng.gamma(2, 1, (count, DEPTH, SIDE, SIDE)).astype(np.float32)
                file.create_dataset(f"cubes/{name}", data=cubes)
            file["galaxies/redshift"] = rng.random(count)
            file["galaxies/speed"] = rng.normal(150, 40, count)
    return str(path)


class CubeDataset(Dataset):
    def __init__(self, path):
        self.path = path
        with h5py.File(path, "r") as file:
            self.count = len(file["galaxies/speed"])

    def __len__(self):
        return 50 * self.count

    def __getitem__(self, i):
        i = i % self.count
        with h5py.File(self.path, "r") as file:
            flux, noise = file["cubes/flux"][i], file["cubes/noise"][i]
            speed, shift = file["galaxies/speed"][i], file["galaxies/redshift"][i]
        cube = np.stack((flux, noise))
        return torch.from_numpy(cube), torch.tensor([speed / 100, shift], dtype=torch.float32)


def network(width=48):
    layers, channels = [], 2
    for out, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (4 * width, 1)):
        layers += [nn.Conv3d(channels, out, 3, stride, 1), nn.BatchNorm3d(out), nn.SiLU()]
        channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(channels, 2))


def train(loader, net, device, seconds):
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    started = time.time()
    for step, (cubes, known) in enumerate(loader, 1):
        found = net(cubes.to(device, non_blocking=True))
        loss = nn.functional.mse_loss(found, known.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if step % 100 == 0:
            print(f"loss {loss.item():.4f}")
        if time.time() - started > seconds:
            break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cubes = CubeDataset(survey(args.data / "galaxy_cubes.h5"))
    loader = DataLoader(cubes, batch_size=24, shuffle=True, num_workers=1, pin_memory=True)
    train(loader, network().to(device), device, args.seconds)


if __name__ == "__main__":
    main()
