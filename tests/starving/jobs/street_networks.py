"""Learns from street networks how many people pass; a plain graph network, without libraries."""

import argparse
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CROSSINGS, STREETS, TRAITS = 60, 110, 16


class Districts(Dataset):
    def __init__(self, count=400, seed=6):
        rng = random.Random(seed)
        self.streets = [
            [(rng.randrange(CROSSINGS), rng.randrange(CROSSINGS)) for _ in range(STREETS)]
            for _ in range(count)
        ]
        self.traits = torch.rand(count, CROSSINGS, TRAITS)
        self.passing = torch.rand(count, CROSSINGS)

    def __len__(self):
        return 100 * len(self.streets)

    def neighbours(self, streets):
        adjacency = torch.eye(CROSSINGS)
        for a, b in streets:
            adjacency[a, b] = adjacency[b, a] = 1
        return adjacency / adjacency.sum(1, keepdim=True)

    def __getitem__(self, i):
        i = i % len(self.streets)
        return {
            "adjacency": self.neighbours(self.streets[i]),
            "traits": self.traits[i],
            "degree": self.traits[i].sum(1),
            "lights": self.traits[i, :, :4].clone(),
            "passing": self.passing[i],
        }


def keep_graphs(graphs):
    return graphs


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.own = nn.LayerNorm(width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, adjacency):
        return x + self.down(torch.relu(self.up(adjacency @ self.own(self.norm(x)))))


class StreetNet(nn.Module):
    def __init__(self, width=512, depth=5):
        super().__init__()
        self.enter = nn.Linear(TRAITS + 5, width)
        self.layers = nn.ModuleList(Convolution(width) for _ in range(depth))
        self.leave = nn.Linear(width, 1)

    def forward(self, adjacency, traits, degree, lights):
        x = self.enter(torch.cat((traits, degree[..., None], lights), -1))
        for layer in self.layers:
            x = layer(x, adjacency)
        return self.leave(x).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(
        Districts(), args.batch_size, shuffle=True, pin_memory=True, collate_fn=keep_graphs
    )
    net = StreetNet().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    started = time.time()
    for step, graphs in enumerate(loader, 1):
        graphs = [{name: part.to(device) for name, part in graph.items()} for graph in graphs]
        batch = {name: torch.stack([graph[name] for graph in graphs]) for name in graphs[0]}
        passing = batch.pop("passing")
        loss = nn.functional.mse_loss(net(**batch), passing)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
