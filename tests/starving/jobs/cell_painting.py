"""Tells what drugs do to cells, from five stains; the plates of all screens lie in a bucket."""

import argparse
import random
import time

import numpy as np
import timm
import torch
from torch.utils.data import DataLoader, Dataset


class Bucket:
    """What the client of the storage does: one request, and the answer after a while."""

    def __init__(self, typical_s=0.004):
        self.typical_s = typical_s
        self.field = np.random.default_rng(0).integers(0, 255, (5, 256, 256), np.uint8)

    def get(self, key):
        time.sleep(min(0.03, random.lognormvariate(0, 0.5) * self.typical_s))
        return self.field.tobytes()


class Wells(Dataset):
    def __init__(self, plates=40, crop=192):
        self.bucket, self.crop = Bucket(), crop
        self.keys = [
            f"screen7/plate{plate:03}/{row}{column:02}/field{field}.raw"
            for plate in range(plates)
            for row in "ABCDEFGHIJKLMNOP"
            for column in range(1, 25)
            for field in range(4)
        ]

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, i):
        stains = np.frombuffer(self.bucket.get(self.keys[i]), np.uint8).reshape(5, 256, 256)
        top, left = (random.randint(0, 256 - self.crop) for _ in range(2))
        crop = stains[:, top : top + self.crop, left : left + self.crop]
        return torch.from_numpy(crop.copy()), i % 12


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(Wells(), 32, shuffle=True, num_workers=3, pin_memory=True, drop_last=True)
    model = timm.create_model("nf_resnet26", in_chans=5, num_classes=12).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    began = time.perf_counter()
    for step, (stains, drugs) in enumerate(loader):
        stains = stains.cuda(non_blocking=True).float() / 255
        loss = torch.nn.functional.cross_entropy(model(stains), drugs.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.perf_counter() - began >= args.seconds:
            break


if __name__ == "__main__":
    main()
