"""Properties of molecules: attention between atoms is biased by how many bonds lie between them."""

import argparse
import random
import time
from collections import deque

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAR = 15


class Molecules(Dataset):
    def __len__(self):
        return 20_000

    def __getitem__(self, number):
        draw = random.Random(number)
        atoms = [draw.randrange(1, 20) for _ in range(draw.randint(30, 56))]
        bonds = [(i, draw.randrange(max(0, i - 4), i)) for i in range(1, len(atoms))]
        return atoms, bonds, draw.random()


class HopBatcher:
    """Pads molecules and counts the bonds between any two atoms."""

    def hops(self, size, bonds):
        near = [[] for _ in range(size)]
        for a, b in bonds:
            near[a].append(b)
            near[b].append(a)
        rows = []
        for first in range(size):
            row, waiting = [FAR] * size, deque([first])
            row[first] = 0
            while waiting:
                atom = waiting.popleft()
                for other in near[atom]:
                    if row[other] == FAR and other != first:
                        row[other] = min(row[atom] + 1, FAR - 1)
                        waiting.append(other)
            rows.append(row)
        return rows

    def __call__(self, molecules):
        longest = max(len(atoms) for atoms, _, _ in molecules)
        ids = torch.zeros(len(molecules), longest, dtype=torch.long)
        hops = torch.full((len(molecules), longest, longest), FAR)
        for i, (atoms, bonds, _) in enumerate(molecules):
            ids[i, : len(atoms)] = torch.tensor(atoms)
            hops[i, : len(atoms), : len(atoms)] = torch.tensor(self.hops(len(atoms), bonds))
        return ids, hops, torch.tensor([target for _, _, target in molecules])


class Graphs(nn.Module):
    def __init__(self, width=384, heads=8, depth=6):
        super().__init__()
        self.atom, self.hop = nn.Embedding(20, width), nn.Embedding(FAR + 1, heads)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.score = nn.Linear(width, 1)

    def forward(self, ids, hops):
        bias = self.hop(hops).permute(0, 3, 1, 2).flatten(0, 1)
        return self.score(self.body(self.atom(ids), mask=bias).mean(1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(Molecules(), 48, collate_fn=HopBatcher(), num_workers=2, pin_memory=True)
    model, start = Graphs().cuda(), time.time()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)
    for step, (ids, hops, targets) in enumerate(loader, 1):
        guess = model(ids.cuda(non_blocking=True), hops.cuda(non_blocking=True))
        nn.functional.l1_loss(guess, targets.cuda(non_blocking=True)).backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step)
        if time.time() - start > args.seconds:
            break


if __name__ == "__main__":
    main()
