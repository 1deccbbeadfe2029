"""Learns pictures without labels from a twin that follows slowly, and a long list of others."""

import argparse
import copy
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize
from torchvision.models import resnet50


class Twins(nn.Module):
    def __init__(self, width=128, length=16_384):
        super().__init__()
        self.fast = resnet50(num_classes=width)
        self.slow = copy.deepcopy(self.fast).requires_grad_(False)
        self.register_buffer("others", normalize(torch.randn(width, length), dim=0))
        self.place = 0

    @torch.no_grad()
    def follow(self, momentum=0.999):
        slow, fast = list(self.slow.parameters()), list(self.fast.parameters())
        torch._foreach_lerp_(slow, fast, 1 - momentum)

    @torch.no_grad()
    def remember(self, keys):
        self.others[:, self.place : self.place + len(keys)] = keys.T
        self.place = (self.place + len(keys)) % self.others.shape[1]

    def forward(self, one, two):
        queries = normalize(self.fast(one), dim=1)
        with torch.no_grad():
            self.follow()
            keys = normalize(self.slow(two), dim=1)
        same = (queries * keys).sum(1, keepdim=True)
        scores = torch.cat([same, queries @ self.others.clone()], dim=1) / 0.2
        self.remember(keys)
        return cross_entropy(scores, scores.new_zeros(len(scores), dtype=torch.long))


class Cropper:
    """Two crops of the same pictures, cut on the GPU."""

    def __init__(self, size, side=192):
        self.pictures = torch.rand(size, 3, side + 32, side + 32, device="cuda")
        self.side = side

    def __call__(self, step):
        views = []
        for down, right in ((step * 3 % 32, step * 5 % 32), (step * 7 % 32, step * 11 % 32)):
            rows = self.pictures[:, :, down : down + self.side]
            views.append(rows[..., right : right + self.side].contiguous())
        return views


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    twins, crop = Twins().cuda(), Cropper(48)
    optimizer = torch.optim.SGD(twins.fast.parameters(), lr=0.03, momentum=0.9)
    start, step, losses = time.time(), 0, 0.0
    while time.time() - start < args.seconds:
        loss = twins(*crop(step))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses += loss.item()
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
