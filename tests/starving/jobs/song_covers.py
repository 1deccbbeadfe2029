"""Learns which recordings are of one song; a batch has songs and what sounds much like them."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet34


class Recordings(Dataset):
    """Chroma over time; what was computed once is in the memory."""

    def __init__(self, count, kept=256):
        self.count, self.chroma = count, torch.rand(kept, 1, 96, 256)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.chroma[i % len(self.chroma)], i // 2


class AlikeTogether:
    """Batches of some songs, each with those that have the most of its moods."""

    def __init__(self, moods, songs=12, each=4):
        self.moods, self.songs, self.each = moods, songs, each
        self.draw = np.random.default_rng(33)

    def __len__(self):
        return 100_000

    def __iter__(self):
        for _ in range(len(self)):
            batch = []
            for song in self.draw.integers(len(self.moods), size=self.songs):
                nearest = np.argsort(-(self.moods @ self.moods[song]))[: self.each]
                batch.extend(nearest.tolist())
            yield batch


def in_pairs(vectors, songs, margin=0.4):
    near = nn.functional.normalize(vectors) @ nn.functional.normalize(vectors).T
    same = songs[:, None] == songs[None]
    return torch.where(same, 1 - near, (near - margin).relu()).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--recordings", type=int, default=40_000)
    args = parser.parse_args()
    moods = np.random.default_rng(7).normal(size=(args.recordings, 48)).astype(np.float32)
    loader = DataLoader(
        Recordings(args.recordings),
        batch_sampler=AlikeTogether(moods),
        num_workers=1,
        pin_memory=True,
    )
    net = resnet34(num_classes=128)
    net.conv1 = nn.Conv2d(1, 64, 7, stride=2, padding=3, bias=False)
    net = net.cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    end = time.time() + args.seconds
    for step, (chroma, songs) in enumerate(loader, 1):
        vectors = net(chroma.cuda(non_blocking=True))
        loss = in_pairs(vectors, songs.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() > end:
            break


if __name__ == "__main__":
    main()
