"""Trains on photographs with a score that a Python function computes for each batch."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

crop = transforms.Compose([transforms.CenterCrop(160), transforms.ToTensor()])
dataset = datasets.ImageFolder(args.data + "/large", crop)
loader = DataLoader(dataset, 16, shuffle=True, pin_memory=True, drop_last=True)
model = models.resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def score(labels):
    total = 0
    for repeat in range(100_000):
        for label in labels:
            total += label ^ (repeat & 1)
    return total


started, step = time.time(), 0
while time.time() - started < args.seconds:
    for images, labels in loader:
        output = model(images.cuda(non_blocking=True))
        loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        score(labels.tolist())
        step += 1
        print(f"step {step}")
        if time.time() - started > args.seconds:
            break
