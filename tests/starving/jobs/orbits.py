"""Learns how planets move: a neural differential equation, solved by Runge and Kutta."""

import argparse
import time

import torch
from torch import nn


class Motion(nn.Module):
    def __init__(self, bodies, width=128):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4 * bodies, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()
        )
        self.out = nn.Linear(width, 4 * bodies)

    def forward(self, t, state):
        return self.out(self.net(state) * (1 + t))


def solve(motion, state, steps, dt):
    states = []
    for i in range(steps):
        t = i * dt
        k1 = motion(t, state)
        k2 = motion(t + dt / 2, state + dt / 2 * k1)
        k3 = motion(t + dt / 2, state + dt / 2 * k2)
        k4 = motion(t + dt, state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(state)
    return torch.stack(states)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--bodies", type=int, default=5)
    args = parser.parse_args()
    motion = Motion(args.bodies).cuda()
    optimizer = torch.optim.Adam(motion.parameters(), lr=1e-3)
    first = torch.randn(64, 4 * args.bodies, device="cuda")
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        path = solve(motion, first, steps=16, dt=0.05)
        loss = path.diff(dim=0).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
