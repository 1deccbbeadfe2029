"""GraphSAGE on a graph of citations: neighbours of neighbours are sampled for each batch."""

import argparse
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

NODES, FEATURES, CLASSES = 30_000, 256, 40


def citations(seed=0):
    rng = random.Random(seed)
    return [[rng.randrange(NODES) for _ in range(rng.randrange(12, 30))] for _ in range(NODES)]


class Neighbourhoods(Dataset):
    """An item is a whole batch: its nodes, their neighbours, and the neighbours' neighbours."""

    def __init__(self, graph, fanouts=(10, 10), size=128):
        self.graph, self.fanouts, self.size = graph, fanouts, size

    def __len__(self):
        return 50_000

    def __getitem__(self, index):
        rng = random.Random(index)
        layers = [[rng.randrange(NODES) for _ in range(self.size)]]
        for fanout in self.fanouts:
            layers.append([n for node in layers[-1] for n in rng.sample(self.graph[node], fanout)])
        return [torch.tensor(layer) for layer in layers]


class Sage(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.own = nn.ModuleList([nn.Linear(FEATURES, hidden), nn.Linear(hidden, CLASSES)])
        self.other = nn.ModuleList([nn.Linear(FEATURES, hidden), nn.Linear(hidden, CLASSES)])

    def hop(self, k, nodes, neighbours):
        mean = neighbours.view(len(nodes), -1, neighbours.shape[1]).mean(1)
        return self.own[k](nodes) + self.other[k](mean)

    def forward(self, seeds, near, far):
        near_hidden = self.hop(0, near, far).relu()
        seeds_hidden = self.hop(0, seeds, near).relu()
        return self.hop(1, seeds_hidden, near_hidden)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--seconds", type=float, default=8)
    ap.add_argument("--num-workers", type=int, default=2)
    args = ap.parse_args()
    table = torch.randn(NODES, FEATURES, device="cuda")
    topics = torch.zeros(NODES, dtype=torch.long, device="cuda")
    model = Sage().cuda()
    optim = torch.optim.Adam(model.parameters(), lr=3e-3)
    loader = DataLoader(Neighbourhoods(citations()), batch_size=None, num_workers=args.num_workers)
    began = time.time()
    for step, ids in enumerate(loader):
        ids = [i.cuda() for i in ids]
        optim.zero_grad()
        out = model(*(table[i] for i in ids))
        nn.functional.cross_entropy(out, topics[ids[0]]).backward()
        optim.step()
        if step % 10 == 0:
            print(f"step {step}")
        if time.time() - began > args.seconds:
            break


if __name__ == "__main__":
    main()
