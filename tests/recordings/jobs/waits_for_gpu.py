"""Reads its loss in each step, and the GPU idles until the host goes on."""

import time

import torch

model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for _ in range(60):
    batch = torch.zeros(4096, 2048, device="cuda")
    loss = model(batch).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    time.sleep(0.01)  # while the GPU has nothing to do
