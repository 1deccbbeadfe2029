"""Trains on rows of a table whose columns are tensors of their own."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

COLUMNS = 300
table = [{f"c{i}": torch.rand(2048) for i in range(COLUMNS)} for _ in range(4)]
model = nn.Sequential(nn.Linear(COLUMNS, 2048), nn.ReLU(), nn.Linear(2048, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    columns = {name: values.cuda() for name, values in table[step % 4].items()}
    rows = torch.stack(list(columns.values()), dim=1)
    loss = model(rows).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 20 == 0:
        print(f"step {step}")
