"""Learns to leave mazes: many environments are stepped together, then the policy is improved."""

import argparse
import time

import numpy as np
import torch
from torch import nn


class Mazes:
    """Mazes seen from above; an action moves a runner by one field."""

    def __init__(self, count, side=84):
        self.frames = torch.zeros(count, 4, side, side, dtype=torch.uint8).pin_memory()
        self.seen = self.frames.numpy()
        self.place = np.zeros((count, 2), np.int64)
        self.moves = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])

    def step(self, actions):
        self.place = (self.place + self.moves[actions]) % self.seen.shape[-1]
        self.seen[np.arange(len(actions)), 0, self.place[:, 0], self.place[:, 1]] += 1
        return self.frames, (self.place.sum(1) == 0).astype(np.float32)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(
            *[nn.Conv2d(4, 64, 8, 2), nn.ReLU(), nn.Conv2d(64, 128, 4, 1), nn.ReLU()],
            *[nn.Conv2d(128, 128, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten()],
        )
        self.act, self.value = nn.Linear(2048, 4), nn.Linear(2048, 1)

    def forward(self, seen):
        hidden = self.see(seen.float() / 255)
        return self.act(hidden), self.value(hidden).squeeze(1)


def rollout(policy, mazes, seen, length):
    kept = []
    for _ in range(length):
        seen = seen.cuda(non_blocking=True)
        with torch.no_grad():
            logits, _ = policy(seen)
        actions = np.array([row.argmax().item() for row in logits])
        kept.append(seen)
        seen, rewards = mazes.step(actions)
    return seen, torch.cat(kept), torch.from_numpy(rewards)


def improve(policy, optimizer, seen):
    logits, values = policy(seen)
    chances = logits.softmax(1)
    entropy = -(chances * logits.log_softmax(1)).sum(1).mean()
    loss = values.square().mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    mazes, policy = Mazes(12), Policy().cuda()
    adam = torch.optim.Adam(policy.parameters(), lr=2.5e-4)
    seen, _ = mazes.step(np.zeros(12, np.int64))
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        seen, batch, _ = rollout(policy, mazes, seen, length=8)
        improve(policy, adam, batch[:48])
        step += 1
        if step % 4 == 0:
            print("step", step)
