"""Looks for wrecks on the sea floor in sweeps of a sonar, which lie on the institute's shelf."""

import argparse
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet101


class Shelf:
    """Sweeps by number. The server answers in some milliseconds, or when it has found the disk."""

    def __init__(self, sweeps=600, side=256):
        self.sweeps, self.side = sweeps, side
        self.floor = np.random.default_rng(3).integers(0, 255, (3, 2 * side, 2 * side), np.uint8)

    def get(self, number):
        time.sleep(0.03 if number % 40 == 7 else 0.003)
        down, right = number * 37 % self.side, number * 101 % self.side
        return self.floor[:, down : down + self.side, right : right + self.side]


class Sweeps(Dataset):
    def __init__(self, shelf):
        self.shelf = shelf

    def __len__(self):
        return 100 * self.shelf.sweeps

    def __getitem__(self, number):
        return number, torch.from_numpy(self.shelf.get(number % self.shelf.sweeps).copy())


@torch.inference_mode()
def survey(seconds):
    net = resnet101(num_classes=2).cuda().eval()
    loader = DataLoader(Sweeps(Shelf()), batch_size=32, num_workers=3, pin_memory=True)
    likely = torch.zeros(100 * 600, device="cuda")
    end = time.time() + seconds
    for step, (numbers, sweeps) in enumerate(loader):
        x = sweeps.cuda(non_blocking=True).float() / 127.5 - 1
        likely[numbers.cuda(non_blocking=True)] = net(x).softmax(1)[:, 1]
        print("step", step)
        if time.time() > end:
            break
    return likely


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    print("wrecks:", int((survey(parser.parse_args().seconds) > 0.5).sum()))
