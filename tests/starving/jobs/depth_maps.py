"""Trains a network on depth maps and keeps every few steps as a file of its own."""

import argparse
import pickle
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class SurfaceNormals:
    """What a depth map looks like from the side, and how rough it is."""

    def __call__(self, depth):
        dy, dx = np.gradient(depth)
        normals = np.stack([-dx, -dy, np.ones_like(depth)])
        normals /= np.linalg.norm(normals, axis=0, keepdims=True)
        angle = np.arctan2(dy, dx)
        return np.concatenate([normals, np.sin(angle)[None], np.cos(angle)[None]])


class DepthMaps(Dataset):
    def __init__(self, size=224):
        self.maps = np.random.default_rng(3).random((32, size, size), dtype=np.float32)
        self.transform = SurfaceNormals()

    def __len__(self):
        return 60_000

    def __getitem__(self, index):
        return torch.from_numpy(self.transform(self.maps[index % 32])).float()


def network():
    return nn.Sequential(
        nn.Conv2d(5, 64, 5, 2, 2), nn.ReLU(),
        nn.Conv2d(64, 512, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(512, 1024, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(1024, 1024, 3, 2, 1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 3),
    )  # fmt: skip


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
torch.set_num_threads(1)
loader = DataLoader(DepthMaps(), batch_size=8, pin_memory=True)
model = network().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with tempfile.TemporaryDirectory() as folder:
    limit = time.time() + args.seconds
    for step, maps in enumerate(loader, 1):
        loss = model(maps.cuda(non_blocking=True)).norm(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            weights = {name: value.cpu() for name, value in model.state_dict().items()}
            with Path(folder, f"{step // 5 % 3}.pkl").open("wb") as file:
                pickle.dump(weights, file)
        print(f"step {step}")
        if time.time() > limit:
            break
