"""How heat spreads in a plate, learnt from its equation alone (a physics-informed network)."""

import argparse
import time

import torch
from torch import nn


def derivative(values, point):
    return torch.autograd.grad(values.sum(), point, create_graph=True)[0]


class Temperature(nn.Module):
    def __init__(self, width=64, depth=6):
        super().__init__()
        sizes = [3, *[width] * depth, 1]
        self.layers = nn.ModuleList(
            nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)
        )
        self.slope = nn.Parameter(torch.ones(depth))

    def forward(self, x, y, t):
        h = torch.cat((x, y, t), 1)
        for slope, layer in zip(self.slope, self.layers[:-1], strict=True):
            h = torch.tanh(slope * layer(h))
        return self.layers[-1](h)


class Plate:
    def __init__(self, points, conductivity=0.1):
        self.points, self.conductivity = points, conductivity
        self.net = Temperature().cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def inside(self):
        x, y, t = (torch.rand(self.points, 1, device="cuda").requires_grad_() for _ in range(3))
        u = self.net(x, y, t)
        u_t, u_x, u_y = derivative(u, t), derivative(u, x), derivative(u, y)
        curved = derivative(u_x, x) + derivative(u_y, y)
        return (u_t - self.conductivity * curved).square().mean()

    def edges(self):
        x, y, t = (torch.rand(self.points, 1, device="cuda") for _ in range(3))
        at_start = self.net(x, y, torch.zeros_like(t)) - torch.sin(torch.pi * x)
        at_edge = self.net(torch.zeros_like(x), y, t)
        return at_start.square().mean() + at_edge.square().mean()

    def improve(self):
        loss = self.inside() + 10 * self.edges()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--points", type=int, default=4096)
    args = parser.parse_args()
    plate, until, step = Plate(args.points), time.time() + args.seconds, 0
    while time.time() < until:
        plate.improve()
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
