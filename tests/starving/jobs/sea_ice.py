"""Draws the edge of the sea ice in radar pictures with a U-Net."""

import argparse
import tempfile
import time
from pathlib import Path

import torch
from torch import nn


def pair(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        sizes = [width * 2**i for i in range(depth + 1)]
        steps = list(zip(sizes[:-1], sizes[1:], strict=True))
        self.enter, self.pool = pair(2, width), nn.MaxPool2d(2)
        self.down = nn.ModuleList(pair(a, b) for a, b in steps)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in reversed(steps))
        self.join = nn.ModuleList(pair(2 * a, a) for a, _ in reversed(steps))
        self.ice = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        seen = [self.enter(x)]
        for down in self.down:
            seen.append(down(self.pool(seen[-1])))
        x = seen.pop()
        for up, join in zip(self.up, self.join, strict=True):
            x = join(torch.cat((up(x), seen.pop()), 1))
        return self.ice(x).squeeze(1)


class Season:
    def __init__(self, folder):
        self.folder, self.step = Path(folder), 0
        self.net = UNet().cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.radar = torch.randn(16, 2, 256, 256, device="cuda")
        self.ice = torch.zeros(16, 256, 256, device="cuda")

    def learn(self):
        loss = nn.functional.binary_cross_entropy_with_logits(self.net(self.radar), self.ice)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.step += 1
        print("step", self.step)

    def keep(self):
        state = {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save({**state, "step": self.step}, self.folder / f"season{self.step % 40}.pt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        season, until = Season(folder), time.time() + args.seconds
        while time.time() < until:
            season.learn()
            if season.step % 20 == 0:
                season.keep()


if __name__ == "__main__":
    main()
