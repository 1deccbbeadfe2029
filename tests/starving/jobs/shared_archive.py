"""Trains on the members of an archive on a share, of which one reader at a time has the file."""

import argparse
import fcntl
import io
import tempfile
import time
import zipfile
from contextlib import contextmanager

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models


@contextmanager
def exclusive(path):
    with open(path) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)


def pack(path, members=64):
    with zipfile.ZipFile(path, "w") as archive:
        for member in range(members):
            out = io.BytesIO()
            np.save(out, np.full((3, 112, 112), member, np.uint8))
            archive.writestr(f"{member}.npy", out.getvalue())


class ArchiveDataset(Dataset):
    latency = 0.006  # of the share

    def __init__(self, path, length):
        self.path, self.length = path, length

    def __len__(self):
        return self.length

    def member(self, name):
        time.sleep(self.latency)
        with zipfile.ZipFile(self.path) as archive:
            return np.load(io.BytesIO(archive.read(name)))

    def __getitem__(self, index):
        with exclusive(self.path):
            image = self.member(f"{index % 64}.npy")
        return torch.from_numpy(image), index % 7


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--seconds", type=float, default=8)
    args = ap.parse_args()
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        pack(file.name)
        train_loader = DataLoader(
            ArchiveDataset(file.name, 200_000),
            batch_size=24,
            num_workers=6,
            pin_memory=True,
        )
        model = models.resnet34(num_classes=7).to("cuda")
        opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        deadline = time.time() + args.seconds
        for step, (x, y) in enumerate(train_loader, start=1):
            x = x.to("cuda", non_blocking=True).float().mul_(1 / 255)
            y = y.to("cuda", non_blocking=True)
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            print(f"step {step}")
            if time.time() > deadline:
                return


main()
