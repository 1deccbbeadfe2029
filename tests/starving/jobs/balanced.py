"""Trains a large network on photographs: decoding keeps up with it."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

to_tensor = transforms.Compose([transforms.CenterCrop(224), transforms.PILToTensor()])
dataset = datasets.ImageFolder(args.data + "/train", to_tensor)
loader = DataLoader(
    dataset, 16, shuffle=True, num_workers=1, pin_memory=True, persistent_workers=True
)
model = models.vit_l_16().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    for images, labels in loader:
        output = model(images.cuda(non_blocking=True).float() / 255)
        loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print(f"step {step}")
        if time.time() - started > args.seconds:
            break
