"""Trains in short epochs, each followed by a test on photographs."""

import argparse
import time

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms


def train(model, optimizer, batches):
    model.train()
    for images, labels in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()


def test(model, test_loader):
    model.eval()
    correct = torch.zeros((), device="cuda")
    with torch.no_grad():
        for images, labels in test_loader:
            images, labels = images.cuda(), labels.cuda()
            correct += (model(images).argmax(1) == labels).sum()
    return correct.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    scale = transforms.Compose([transforms.Resize((160, 160)), transforms.ToTensor()])
    test_set = datasets.ImageFolder(args.data + "/val", scale)
    test_loader = DataLoader(test_set, batch_size=20, num_workers=1)
    labels = torch.zeros(64, dtype=torch.long, device="cuda")
    batches = [(torch.randn(64, 3, 224, 224, device="cuda"), labels) for _ in range(12)]
    model = models.resnet18().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    started, step = time.time(), 0
    while time.time() - started < args.seconds:
        train(model, optimizer, batches)
        test(model, test_loader)
        step += len(batches)
        print(f"step {step}")


main()
