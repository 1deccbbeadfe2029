"""Predicts how well molecules dissolve; attention knows how many bonds are between two atoms."""

import argparse
import random
import time

import networkx as nx
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ATOMS, KINDS, FAR, HEADS = 32, 12, 16, 8


def molecules(count=600, seed=19):
    """Trees with a few rings, as drug-like molecules are."""
    rng = random.Random(seed)
    graphs = []
    for _ in range(count):
        graph = nx.random_labeled_tree(rng.randint(20, ATOMS), seed=rng.randrange(10**6))
        for _ in range(3):
            graph.add_edge(*rng.sample(range(len(graph)), 2))
        nx.set_node_attributes(graph, {n: rng.randrange(1, KINDS) for n in graph}, "kind")
        graphs.append((graph, rng.gauss(-3, 1)))
    return graphs


class MoleculeDataset(Dataset):
    def __init__(self, graphs):
        self.graphs = graphs

    def __len__(self):
        return 100 * len(self.graphs)

    def featurize(self, graph):
        kinds = torch.zeros(ATOMS, dtype=torch.long)
        bonds = torch.full((ATOMS, ATOMS), FAR - 1)
        for atom, kind in graph.nodes(data="kind"):
            kinds[atom] = kind
        for atom, lengths in nx.all_pairs_shortest_path_length(graph):
            for other, length in lengths.items():
                bonds[atom, other] = min(length, FAR - 2)
        return kinds, bonds

    def __getitem__(self, i):
        graph, solubility = self.graphs[i % len(self.graphs)]
        return *self.featurize(graph), torch.tensor(solubility)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, bias):
        q, k, v = self.qkv(self.norm1(x)).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Graphormer(nn.Module):
    def __init__(self, width=512, depth=4):
        super().__init__()
        self.kind, self.bond = nn.Embedding(KINDS, width), nn.Embedding(FAR, HEADS)
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, kinds, bonds):
        x, bias = self.kind(kinds), self.bond(bonds).permute(0, 3, 1, 2)
        for layer in self.layers:
            x = layer(x, bias)
        return self.head(x.mean(1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(MoleculeDataset(molecules()), 32, shuffle=True, num_workers=2)
    model = Graphormer().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    until = time.time() + args.seconds
    for step, batch in enumerate(loader, 1):
        kinds, bonds, known = (part.to(device) for part in batch)
        loss = nn.functional.l1_loss(model(kinds, bonds), known)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() > until:
            break


if __name__ == "__main__":
    main()
