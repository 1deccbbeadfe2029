"""The job that is watched here: a small network on the CPU, which waits for its data."""

from __future__ import annotations


def training_job(rows: int, each_step: str, afterwards: str) -> str:
    """A script. `each_step` and `afterwards`: its own lines there, without indentation."""
    own = "".join(f"\n    {line}" for line in each_step.splitlines())
    return f"""
import os, sys, time, torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return {rows}
    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.zeros(4)
torch.set_num_threads(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for rows in DataLoader(Rows(), batch_size=4):
    model(rows).sum().backward()
    optimizer.step()
    optimizer.zero_grad(){own}
{afterwards}
"""
