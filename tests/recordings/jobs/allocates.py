"""Asks for memory in each step, or keeps what it gets: `allocates.py ask|fill`."""

import sys
import time

import torch
from torch import nn

if sys.argv[1] == "fill":
    torch.cuda.set_per_process_memory_fraction(0.02)
model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
end = time.monotonic() + 1.5
while time.monotonic() < end:
    loss = model(torch.zeros(4096, 256, device="cuda")).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if sys.argv[1] == "fill":
        kept.append(torch.zeros(64 << 20, device="cuda"))
