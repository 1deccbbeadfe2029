"""Trains with gradients accumulated over four small batches."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms


class FilmGrain:
    """Adds noise and smooths it, in a way that no library has."""

    def __call__(self, image):
        noise = torch.randn(image.shape)
        for _ in range(12):
            noise = (noise + noise.roll(1, 1) + noise.roll(1, 2)) / 3
        return image + 0.1 * noise


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
augment = transforms.Compose([transforms.CenterCrop(224), transforms.ToTensor(), FilmGrain()])
dataset = datasets.ImageFolder(args.data + "/train", augment)
loader = DataLoader(dataset, 16, shuffle=True, num_workers=2, pin_memory=True)
model = models.resnet18().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
started, batch = time.time(), 0
while time.time() - started < args.seconds:
    for images, labels in loader:
        output = model(images.cuda(non_blocking=True))
        loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True)) / 4
        loss.backward()
        batch += 1
        if batch % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
            print(f"step {batch // 4}")
        if time.time() - started > args.seconds:
            break
