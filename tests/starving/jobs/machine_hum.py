# Listens to pumps and tells which will fail: an autoencoder over their spectrograms.
import argparse
import time

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

RATE, WINDOW, HOP, BANDS = 16_000, 1024, 256, 96


def bank():
    edges = np.geomspace(4, WINDOW // 2, BANDS + 2).astype(int)
    weights = np.zeros((WINDOW // 2 + 1, BANDS), np.float32)
    for band, (low, high) in enumerate(zip(edges, edges[2:], strict=False)):
        weights[low : high + 1, band] = 1 / (high - low + 1)
    return weights


class Pumps(Dataset):
    def __init__(self, hours=60_000):
        self.hours, self.bank = hours, bank()
        self.records = np.random.default_rng(0).normal(size=(16, RATE * 5)).astype(np.float32)
        self.window = np.hanning(WINDOW).astype(np.float32)

    def __len__(self):
        return self.hours

    def __getitem__(self, hour):
        record = self.records[hour % 16]
        frames = np.lib.stride_tricks.sliding_window_view(record, WINDOW)[::HOP]
        power = np.abs(np.fft.rfft(frames * self.window)) ** 2
        return np.log1p(power @ self.bank)[:256].astype(np.float32)


class Squeeze(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.enter = nn.Conv2d(1, width, 4, 4)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.GroupNorm(8, width), nn.GELU(), nn.Conv2d(width, width, 3, padding=1))
            for _ in range(16)
        )
        self.leave = nn.ConvTranspose2d(width, 1, 4, 4)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = x + block(x)
        return self.leave(x)


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
parser.add_argument("--workers", type=int, default=1)
args = parser.parse_args()

net = Squeeze().cuda()
adam = torch.optim.Adam(net.parameters(), lr=1e-4)
loader = DataLoader(Pumps(), batch_size=12, num_workers=args.workers, pin_memory=True)
stop = time.time() + args.seconds
for step, spectra in enumerate(loader):
    spectra = spectra.unsqueeze(1).to("cuda", non_blocking=True)
    loss = (net(spectra) - spectra[..., :312, :]).square().mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    print("step", step)
    if time.time() > stop:
        break
