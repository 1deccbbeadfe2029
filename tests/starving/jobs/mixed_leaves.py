"""Recognises leaves from mixed pictures; a picture gets a patch of another one."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import wide_resnet50_2


class Leaves(Dataset):
    def __init__(self, count=2048, kinds=30, side=160):
        self.pictures = np.random.default_rng(0).integers(0, 256, (64, side, side, 3), np.uint8)
        self.count, self.kinds = count * 40, kinds

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.pictures[i % 64], i % self.kinds


class CutMix:
    def __init__(self, alpha, rng):
        self.alpha, self.rng = alpha, rng

    def soften(self, picture):
        """A cheap blur, so that edges of a patch do not tell of it."""
        blurred = picture.astype(np.float32)
        for axis in (0, 1):
            blurred = sum(np.roll(blurred, shift, axis) for shift in range(-4, 5)) / 9
        return blurred

    def __call__(self, pictures, kinds):
        order = self.rng.permutation(len(pictures))
        mixed = np.empty(pictures.shape, np.float32)
        for i, j in enumerate(order):
            part = int(self.rng.beta(self.alpha, self.alpha) * pictures.shape[1])
            mixed[i] = self.soften(pictures[i])
            mixed[i, :part, :part] = pictures[j, :part, :part]
        return torch.from_numpy(mixed), kinds[torch.from_numpy(order)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    mix = CutMix(1.0, np.random.default_rng(11))
    loader = DataLoader(Leaves(), batch_size=24, num_workers=1, persistent_workers=True)
    net = wide_resnet50_2(num_classes=30).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    end = time.time() + args.seconds
    for step, (pictures, kinds) in enumerate(loader, 1):
        pictures, others = mix(pictures.numpy(), kinds)
        pictures = pictures.cuda().permute(0, 3, 1, 2) / 255
        scores = net(pictures)
        both = nn.functional.cross_entropy(scores, kinds.cuda())
        both = both + nn.functional.cross_entropy(scores, others.cuda())
        optimizer.zero_grad()
        both.backward()
        optimizer.step()
        print("step", step)
        if time.time() > end:
            break


if __name__ == "__main__":
    main()
