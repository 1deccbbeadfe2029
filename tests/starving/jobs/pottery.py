"""Dates pots from the profiles of their sherds, as excavators drew them one by one."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PROFILES, POINTS = 20, 48


def excavate(folder, pots):
    draw = np.random.default_rng(79)
    for pot in range(pots):
        place = folder / f"pot{pot:04}"
        place.mkdir()
        for sherd in range(PROFILES):
            np.save(place / f"{sherd}.npy", draw.normal(size=(POINTS, 3)).astype(np.float32))


class Pots(Dataset):
    def __init__(self, folder):
        self.places = sorted(folder.iterdir())

    def __len__(self):
        return 500 * len(self.places)

    def __getitem__(self, index):
        place = self.places[index % len(self.places)]
        sherds = [np.load(file) for file in sorted(place.glob("*.npy"))]
        return torch.from_numpy(np.concatenate(sherds)), float(index % 300)


class Dates(nn.Module):
    """Every point alone, then the most that any has of each feature."""

    def __init__(self, widths=(3, 512, 512, 1024)):
        super().__init__()
        layers = []
        for a, b in zip(widths[:-1], widths[1:], strict=True):
            layers += [nn.Linear(a, b), nn.LayerNorm(b), nn.ReLU()]
        self.points = nn.Sequential(*layers)
        self.year = nn.Sequential(nn.Linear(widths[-1], 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, x):
        return self.year(self.points(x).amax(1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        excavate(Path(folder), 200)
        pots = Pots(Path(folder))
        loader = DataLoader(pots, 32, True, num_workers=2, pin_memory=True, persistent_workers=True)
        model = Dates().cuda()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        deadline = time.monotonic() + args.seconds
        for step, (points, years) in enumerate(loader, 1):
            found = model(points.cuda(non_blocking=True))
            loss = nn.functional.l1_loss(found, years.float().cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("step", step)
            if time.monotonic() > deadline:
                break


if __name__ == "__main__":
    main()
