"""Trains from small files, each of which is opened for a sample."""

import sys
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, index):
        (Path(sys.argv[1]) / str(index % 8)).read_bytes()
        return torch.zeros(3, 64, 64), 0


torch.set_num_threads(1)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 7, stride=4),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(16, 10),
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Files(), batch_size=8, num_workers=int(sys.argv[2]))
for step, (images, labels) in enumerate(loader):
    loss = torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
    if step == 60:
        break
time.sleep(0.2)  # PyTorch 2.15 may abort where Python ends right behind a backward pass
