"""Finds fields on pictures from orbit. They lie far away, but many are asked for at once."""

import argparse
import random
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models.segmentation import fcn_resnet50


class FarAway:
    def __init__(self, latency_s):
        self.latency_s = latency_s
        self.scene = np.random.default_rng(0).integers(0, 255, (4, 1024, 1024), np.uint8)

    def window(self, top, left, size):
        time.sleep(random.uniform(0.8, 1.2) * self.latency_s)
        return self.scene[:, top : top + size, left : left + size]


class Fields(Dataset):
    def __init__(self, store, size):
        self.store, self.size = store, size

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        top, left = random.randrange(800), random.randrange(800)
        window = torch.from_numpy(self.store.window(top, left, self.size).copy())
        return window[:3], window[3] // 64


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--latency", type=float, default=0.008)
    args = parser.parse_args()
    fields = Fields(FarAway(args.latency), 160)
    loader = DataLoader(fields, 16, num_workers=8, prefetch_factor=4, pin_memory=True)
    net = fcn_resnet50(weights=None, weights_backbone=None, num_classes=4).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    start = time.time()
    for step, (scene, crops) in enumerate(loader, 1):
        scene = scene.cuda(non_blocking=True).float() / 255
        crops = crops.cuda(non_blocking=True).long()
        loss = nn.functional.cross_entropy(net(scene)["out"], crops)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() - start > args.seconds:
            break


if __name__ == "__main__":
    main()
