"""Trains on tiles of a large satellite mosaic, of which each tile is a range of one remote file."""

import argparse
import os
import random
import tempfile
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models import convnext_small

SIDE = 192
TILE_BYTES = 4 * SIDE * SIDE


class RemoteFile:
    """A file behind a gateway, read like a local one."""

    def __init__(self, path):
        self.path, self.descriptor = path, None

    def read(self, offset, size):
        if self.descriptor is None:
            self.descriptor = os.open(self.path, os.O_RDONLY)
        time.sleep(random.lognormvariate(-4.3, 0.4))
        return os.pread(self.descriptor, size, offset)


class Tiles(Dataset):
    def __init__(self, remote, count):
        self.remote, self.count = remote, count

    def __len__(self):
        return 40_000

    def __getitem__(self, index):
        raw = self.remote.read(index % self.count * TILE_BYTES, TILE_BYTES)
        tile = np.frombuffer(raw, np.uint8).reshape(4, SIDE, SIDE)
        return torch.from_numpy(tile[:3].copy()), index % 12


def train(loader, deadline):
    network = convnext_small(num_classes=12).cuda()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, fused=True)
    for step, (tiles, uses) in enumerate(loader, 1):
        tiles = tiles.cuda(non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            scores = network(tiles.float() / 255)
            loss = torch.nn.functional.cross_entropy(scores, uses.cuda(non_blocking=True))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}")
        if time.time() > deadline:
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()
    with tempfile.NamedTemporaryFile() as mosaic:
        mosaic.write(np.random.bytes(64 * TILE_BYTES))
        mosaic.flush()
        tiles = Tiles(RemoteFile(mosaic.name), 64)
        loader = DataLoader(tiles, batch_size=32, shuffle=True, num_workers=4, pin_memory=True)
        train(loader, time.time() + arguments.seconds)
