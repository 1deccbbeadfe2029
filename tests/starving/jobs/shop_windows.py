"""Sorts photographs of shop windows, which were made small once and lie in one array."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler
from torchvision.models import resnet50


class Windows(Dataset):
    """Takes whole batches of indices, so that a batch is one gather."""

    def __init__(self, count=2000, side=176):
        self.photos = np.zeros((count, 3, side, side), np.uint8)
        self.kinds = np.arange(count) % 20

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, indices):
        return torch.from_numpy(self.photos[indices]), torch.from_numpy(self.kinds[indices])


def train(seconds, size=64):
    windows = Windows()
    sampler = RandomSampler(windows, replacement=True, num_samples=1_000_000)
    loader = DataLoader(
        windows,
        batch_size=None,
        sampler=BatchSampler(sampler, size, drop_last=True),
        num_workers=1,
        pin_memory=True,
    )
    model = resnet50(num_classes=20).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    end = time.time() + seconds
    for step, (photos, kinds) in enumerate(loader, 1):
        photos = photos.cuda(non_blocking=True).float().div_(255)
        loss = nn.functional.cross_entropy(model(photos), kinds.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() > end:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    train(parser.parse_args().seconds)
