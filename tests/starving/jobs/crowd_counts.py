"""Counts people in crowds; the pictures with the largest errors are remembered."""

import argparse
import copy
import heapq
import time

import torch
from torch import nn
from torchvision.models import vgg16_bn


class Crowd(nn.Module):
    def __init__(self):
        super().__init__()
        self.see = vgg16_bn().features[:33]
        self.count = nn.Sequential(
            nn.Conv2d(512, 128, 3, padding=1), nn.ReLU(), nn.Conv2d(128, 1, 1)
        )

    def forward(self, x):
        return self.count(self.see(x)).flatten(1).sum(1)


class Average:
    """Weights that follow the trained ones slowly."""

    def __init__(self, model, decay=0.999):
        self.model, self.decay = copy.deepcopy(model).eval(), decay

    @torch.no_grad()
    def follow(self, model):
        for mine, theirs in zip(
            self.model.state_dict().values(), model.state_dict().values(), strict=True
        ):
            if mine.dtype.is_floating_point:
                mine.mul_(self.decay).add_(theirs, alpha=1 - self.decay)


class Worst:
    def __init__(self, size):
        self.size, self.heap = size, []

    def add(self, first, errors):
        for number, error in enumerate(errors, first):
            heapq.heappush(self.heap, (error, number))
        while len(self.heap) > self.size:
            heapq.heappop(self.heap)


def main(seconds):
    model = Crowd().cuda()
    average, worst = Average(model), Worst(100)
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-5, foreach=False)
    pictures, people = torch.randn(4, 12, 3, 144, 144, device="cuda"), torch.rand(12, device="cuda")
    start, step = time.time(), 0
    while time.time() - start < seconds:
        errors = (model(pictures[step % 4]) - people).abs()
        optimizer.zero_grad()
        errors.mean().backward()
        worst.add(12 * step, errors.detach().cpu().tolist())
        optimizer.step()
        average.follow(model)
        step += 1
        print("step", step)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("--seconds", type=float, default=8)
    main(p.parse_args().seconds)
