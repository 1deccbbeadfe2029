"""Trains with gradients accumulated over four batches that come in time."""

import argparse
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

pixels = torch.randint(0, 256, (1024, 3, 192, 192), dtype=torch.uint8)
dataset = TensorDataset(pixels, torch.zeros(1024, dtype=torch.long))
loader = DataLoader(
    dataset, 32, shuffle=True, num_workers=1, persistent_workers=True, pin_memory=True
)
model = models.wide_resnet50_2().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
started, batch = time.time(), 0
while time.time() - started < args.seconds:
    for images, labels in loader:
        output = model(images.cuda(non_blocking=True).float() / 255)
        loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True)) / 4
        loss.backward()
        batch += 1
        if batch % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
            print(f"step {batch // 4}")
        if time.time() - started > args.seconds:
            break
