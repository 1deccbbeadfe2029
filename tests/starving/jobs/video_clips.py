"""Trains on clips: a sample is 16 frames as float tensors."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self):
        self.clips = [torch.rand(3, 16, 112, 112) for _ in range(8)]

    def __len__(self):
        return 10_000

    def __getitem__(self, index):
        return self.clips[index % 8], index % 5


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
loader = DataLoader(Clips(), batch_size=32, num_workers=2, pin_memory=True)
model = nn.Sequential(
    nn.Conv3d(3, 16, 3, stride=2, padding=1),
    nn.ReLU(),
    nn.Conv3d(16, 32, 3, stride=2, padding=1),
    nn.AdaptiveAvgPool3d(1),
    nn.Flatten(),
    nn.Linear(32, 5),
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
started = time.time()
for step, (clips, labels) in enumerate(loader, 1):
    output = model(clips.cuda(non_blocking=True))
    loss = nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}")
    if time.time() - started > args.seconds:
        break
