# Gestures before an event camera: events become a grid over place and time.
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

H, W, BINS = 128, 128, 8


class Gestures(Dataset):
    def __init__(self, recordings=24, events=400_000):
        rng = np.random.default_rng(8)
        self.recordings = []
        for _ in range(recordings):
            t = np.sort(rng.random(events))
            x, y = rng.integers(0, W, events), rng.integers(0, H, events)
            self.recordings.append((t, x, y, rng.integers(0, 2, events) * 2 - 1))

    def __len__(self):
        return 20_000

    def __getitem__(self, i):
        t, x, y, sign = self.recordings[i % len(self.recordings)]
        start = i * 1511 % (len(t) - 20_000)
        part = slice(start, start + 20_000)
        return torch.from_numpy(voxels(t[part], x[part], y[part], sign[part])), i % 11


def voxels(t, x, y, sign):
    grid = np.zeros((BINS, H, W), np.float32)
    at = (t - t[0]) / (t[-1] - t[0]) * (BINS - 1.001)
    low = at.astype(np.int64)
    late = at - low
    np.add.at(grid, (low, y, x), sign * (1 - late))
    np.add.at(grid, (low + 1, y, x), sign * late)
    return grid


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = (nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
        self.norm_a, self.norm_b = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.norm_b(self.b(F.relu(self.norm_a(self.a(x))))))


seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 8
loader = DataLoader(Gestures(), batch_size=16, shuffle=True)
net = nn.Sequential(
    nn.Conv2d(BINS, 96, 3, padding=1),
    *[Residual(96) for _ in range(6)],
    nn.AdaptiveAvgPool2d(2),
    nn.Flatten(),
    nn.Linear(4 * 96, 11),
).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
t0 = time.time()
for step, (grids, gestures) in enumerate(loader):
    loss = F.cross_entropy(net(grids.cuda()), gestures.cuda())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("step", step)
    if time.time() - t0 > seconds:
        break
