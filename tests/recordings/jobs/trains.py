"""Trains on the CPU from a slow data set, and ends as it is told."""

import os
import signal
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
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(Slow(), batch_size=8):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
time.sleep(0.2)  # PyTorch 2.15 may abort where Python ends right behind a backward pass
end = sys.argv[1]
if end == "signal":
    os.kill(os.getpid(), signal.SIGSEGV)
if end == "raises":
    torch.nn.Linear(3, 4)(torch.zeros(2, 5))
try:
    print(1 / 0)
except ZeroDivisionError:
    sys.exit(int(end))
