"""Two GPUs learn to find asteroids, each in the frames of one observatory."""

import argparse
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

SIDE = 160


def as_taken(frame):
    return frame


def without_rays(frame):
    """The camera in the south has no shield: cosmic rays hit single pixels."""
    around = [np.roll(frame, shift, axis) for shift in (-1, 1) for axis in (0, 1)]
    usual = np.median(np.stack([frame, *around], axis=-1), axis=-1)
    return np.where(frame > 3 * usual, usual, frame)


class Frames(Dataset):
    def __init__(self, observatory):
        self.prepare = {"north": as_taken, "south": without_rays}[observatory]
        self.frames = np.random.default_rng(1).gamma(2, 1, (100, SIDE, SIDE)).astype(np.float32)

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        frame = self.prepare(self.frames[i % len(self.frames)])
        return torch.from_numpy(frame.astype(np.float32))[None], i % 2


def finder():
    layers, channels = [], 1
    for width, pool in ((64, 2), (128, 2), (256, 1), (256, 2), (512, 1), (512, 1)):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        layers += [nn.MaxPool2d(2)] if pool == 2 else []
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--observatories", nargs=2, default=["north", "south"])
    args = parser.parse_args()
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    frames = Frames(args.observatories[rank])
    loader = DataLoader(frames, batch_size=20, num_workers=1, pin_memory=True)
    model = DistributedDataParallel(finder().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    started, stop = time.time(), [False]
    for step, (sky, found) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(sky.cuda()), found.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print("step", step)
        if step % 5 == 0:
            stop = [time.time() - started > args.seconds]
            dist.broadcast_object_list(stop)
        if stop[0]:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
