"""Trains a small network on a device, from a loader that is fed, starved or restarted."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.set_num_threads(1)
kind, device = sys.argv[1:]


class Data(Dataset):
    def __init__(self, samples, load):
        self.samples, self.load = samples, load

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        self.load()
        return torch.zeros(3, 32, 32), 0


def sort():
    torch.randn(3, 160, 160).sort()


def sleep():
    time.sleep(0.006)


def slow_start(worker):
    time.sleep(0.3)


model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.Conv2d(32, 64, 3, padding=1),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(64, 10),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = torch.nn.CrossEntropyLoss()


def train(loader):
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if kind == "fed":  # Batches that lie in memory: next to nothing is waited for.
    train(DataLoader(TensorDataset(torch.zeros(640, 3, 32, 32), torch.zeros(640).long()), 32))
if kind == "starved":  # The data set's own code takes far longer than a step.
    train(DataLoader(Data(320, sort), 16))
if kind == "lockstep":
    # Two workers, each of which makes a batch in the time of several steps: they hand over
    # together, so that every second wait is long.
    train(DataLoader(Data(640, sleep), 16, num_workers=2))
if kind in ("restarting", "living_on"):
    # An epoch of four steps, and workers that take long to start in each.
    persist = kind == "living_on"
    data = Data(32, int)
    loader = DataLoader(
        data, 8, num_workers=2, worker_init_fn=slow_start, persistent_workers=persist
    )
    for _ in range(6):
        train(loader)
time.sleep(0.2)  # PyTorch 2.15 may abort where Python ends right behind a backward pass
