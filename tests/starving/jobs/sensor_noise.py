"""Trains a denoiser: noise like a sensor's is made in numpy for each sample."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class SensorNoise:
    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def __call__(self, image):
        shot = self.generator.poisson(image * 40.0) / 40.0
        read = self.generator.normal(0, 0.02, image.shape)
        return np.clip(shot + read, 0, 1).astype(np.float32)


class Pairs(Dataset):
    def __init__(self, count):
        self.clean = np.random.default_rng(1).random((64, 3, 128, 128), dtype=np.float32)
        self.count = count
        self.noise = SensorNoise(2)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        clean = self.clean[index % 64]
        return torch.from_numpy(self.noise(clean)), torch.from_numpy(clean)


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
loader = DataLoader(Pairs(10_000), batch_size=32, num_workers=2, pin_memory=True)
layers = [nn.Conv2d(3, 64, 3, padding=1)]
for _ in range(6):
    layers += [nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1)]
model = nn.Sequential(*layers, nn.Conv2d(64, 3, 3, padding=1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
started = time.time()
for step, (noisy, clean) in enumerate(loader, 1):
    restored = model(noisy.cuda(non_blocking=True))
    loss = nn.functional.l1_loss(restored, clean.cuda(non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}")
    if time.time() - started > args.seconds:
        break
