"""Classifies an archive of photographs with a trained network."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

prepare = transforms.Compose([transforms.CenterCrop(224), transforms.PILToTensor()])
archive = datasets.ImageFolder(args.data + "/large", prepare)
model = models.resnet50().cuda().eval()
started, done = time.time(), 0
found = []
with torch.inference_mode():
    while time.time() - started < args.seconds:
        for images, _ in DataLoader(archive, batch_size=20, num_workers=2, pin_memory=True):
            scores = model(images.cuda(non_blocking=True).float() / 255)
            found.append(scores.argmax(1))
            done += 1
            print(f"step {done}")
