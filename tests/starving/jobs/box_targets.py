"""Trains the heads of a detector; every picture has its own dictionary of targets."""

import argparse
import time

import torch
from torch import nn

DEVICE = torch.device("cuda")


def collate_fn(batch):
    return tuple(zip(*batch, strict=True))


def make_batch(size):
    def target(i):
        return {
            "boxes": torch.rand(9, 4),
            "labels": torch.randint(1, 91, (9,)),
            "area": torch.rand(9),
            "iscrowd": torch.zeros(9, dtype=torch.int64),
            "image_id": torch.tensor([i]),
        }

    return collate_fn([(torch.empty(0), target(i)) for i in range(size)])[1]


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(256, 256, 3, padding=1), nn.ReLU())
        self.boxes = nn.Conv2d(256, 36, 1)
        self.labels = nn.Conv2d(256, 9 * 91, 1)

    def forward(self, features):
        x = self.trunk(features)
        return self.boxes(x).mean((2, 3)).view(-1, 9, 4), self.labels(x).mean((2, 3))


def losses(predicted, targets):
    boxes = torch.stack([t["boxes"] for t in targets])
    labels = torch.stack([t["labels"] for t in targets])
    box_loss = nn.functional.smooth_l1_loss(predicted[0], boxes)
    return box_loss + nn.functional.cross_entropy(predicted[1].view(-1, 91), labels.flatten())


def train_one_epoch(model, optimizer, features, batches, seconds):
    start, step = time.time(), 0
    while time.time() - start < seconds:
        targets = batches[step % len(batches)]
        targets = [{k: v.to(DEVICE) for k, v in t.items()} for t in targets]
        loss = losses(model(features), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            print(f"step {step}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    heads = Heads().to(DEVICE)
    sgd = torch.optim.SGD(heads.parameters(), lr=0.02, momentum=0.9)
    maps = torch.randn(64, 256, 32, 32, device=DEVICE)
    train_one_epoch(heads, sgd, maps, [make_batch(64) for _ in range(4)], options.seconds)
