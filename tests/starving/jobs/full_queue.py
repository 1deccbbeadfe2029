"""Trains ResNet-50 on bytes in memory, which two workers put into batches in time."""

import argparse
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

pixels = torch.randint(0, 256, (1024, 3, 224, 224), dtype=torch.uint8)
dataset = TensorDataset(pixels, torch.zeros(1024, dtype=torch.long))
loader = DataLoader(
    dataset, 64, shuffle=True, num_workers=2, persistent_workers=True, pin_memory=True
)
model = models.resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    for images, labels in loader:
        output = model(images.cuda(non_blocking=True).float() / 255)
        loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            print(f"step {step}")
        if time.time() - started > args.seconds:
            break
