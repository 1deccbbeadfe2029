"""Groups photographs of family albums without labels: each against a long list of others."""

import argparse
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize
from torchvision.models import resnet50


class Others:
    """Vectors of photographs seen before; the oldest are given up first."""

    def __init__(self, length=65_536, width=256):
        self.vectors = normalize(torch.randn(length, width), dim=1)
        self.place = 0

    def on(self, device):
        return self.vectors.to(device)

    def remember(self, vectors):
        end = self.place + len(vectors)
        self.vectors[self.place : end] = vectors.detach().cpu()
        self.place = end % len(self.vectors)


class Albums:
    """Pages of an album, and where a photograph is cut out of them."""

    def __init__(self, batch=32, side=176):
        self.pages, self.side = torch.rand(batch, 3, side + 16, side + 16, device="cuda"), side

    def views(self, step):
        for down, right in ((step % 16, step * 7 % 16), (step * 5 % 16, step * 3 % 16)):
            cut = self.pages[:, :, down : down + self.side, right : right + self.side]
            yield cut.contiguous()


def alone(one, two, others, warmth=0.1):
    same = (one * two).sum(1, keepdim=True)
    scores = torch.cat((same, one @ others.T), 1) / warmth
    return cross_entropy(scores, torch.zeros(len(one), dtype=torch.long, device=one.device))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    net = resnet50()
    net.fc = nn.Linear(net.fc.in_features, 256)
    net, albums, others = net.cuda(), Albums(), Others()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        first, second = albums.views(step)
        one = normalize(net(first), dim=1)
        with torch.no_grad():
            two = normalize(net(second), dim=1)
        loss = alone(one, two, others.on(one.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        others.remember(two)
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
