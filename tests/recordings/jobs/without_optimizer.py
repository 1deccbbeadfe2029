"""Trains without an optimizer, with and without a loader, or does not train at all."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Slow(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        torch.randn(3, 100, 100).sort()
        return torch.zeros(8), 0


model = torch.nn.Linear(8, 2)


def train(x, y):
    torch.nn.functional.cross_entropy(model(x), y).backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.sub_(0.1 * parameter.grad)
            parameter.grad = None


kind = sys.argv[1]
if kind == "by_hand":
    for _ in range(2):
        for x, y in DataLoader(Slow(), batch_size=8):
            train(x, y)
if kind == "infers":
    with torch.no_grad():
        for x, _ in DataLoader(Slow(), batch_size=16):
            model(x).sum().item()
if kind == "without_loader":
    for _ in range(20):
        x = torch.stack([Slow()[i][0] for i in range(8)])
        train(x, torch.zeros(8).long())
time.sleep(0.2)  # PyTorch 2.15 may abort where Python ends right behind a backward pass
