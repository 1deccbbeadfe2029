"""Rows of text, parsed sample by sample, for a small network on the CPU."""

import json
import random

import torch
from torch.utils.data import DataLoader, Dataset

random.seed(1)
ROWS = [json.dumps([random.random() for _ in range(200)]) for _ in range(512)]


class Rows(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        values = json.loads(ROWS[index % len(ROWS)])
        return torch.tensor(values)


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Rows(), batch_size=64)
    model = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(1000):
        for values in loader:
            loss = model(values).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
