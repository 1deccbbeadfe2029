"""Makes marbled paper with a Wasserstein GAN."""

import argparse
import time
from collections import defaultdict

import torch
from torch import nn


def maker(noise=128, width=96):
    sizes = [8 * width, 4 * width, 2 * width, width]
    layers = [nn.ConvTranspose2d(noise, sizes[0], 4), nn.BatchNorm2d(sizes[0]), nn.ReLU()]
    for a, b in zip(sizes[:-1], sizes[1:], strict=True):
        layers += [nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())


def critic(width=96):
    layers = [nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2)]
    for i in range(3):
        a, b = width * 2**i, width * 2 ** (i + 1)
        layers += [nn.Conv2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Conv2d(8 * width, 1, 4), nn.Flatten())


class Diary:
    """Means of what was noted, for the plot at the end."""

    def __init__(self):
        self.sums, self.counts = defaultdict(float), defaultdict(int)

    def note(self, **values):
        for name, value in values.items():
            self.sums[name] += float(value)
            self.counts[name] += 1

    def means(self):
        return {name: total / self.counts[name] for name, total in self.sums.items()}


class Marbling:
    def __init__(self, papers):
        self.papers, self.diary = papers, Diary()
        self.maker, self.critic = maker().cuda(), critic().cuda()
        self.of_maker = torch.optim.RMSprop(self.maker.parameters(), lr=5e-5)
        self.of_critic = torch.optim.RMSprop(self.critic.parameters(), lr=5e-5)

    def judge(self, batch=64):
        start = torch.randint(len(self.papers) - batch, ()).item()
        made = self.maker(torch.randn(batch, 128, 1, 1, device="cuda")).detach()
        true = self.critic(self.papers[start : start + batch]).mean()
        false = self.critic(made).mean()
        self.of_critic.zero_grad()
        (false - true).backward()
        self.diary.note(true=true, false=false)
        self.of_critic.step()
        for weights in self.critic.parameters():
            weights.data.clamp_(-0.01, 0.01)

    def make(self, batch=64):
        loss = -self.critic(self.maker(torch.randn(batch, 128, 1, 1, device="cuda"))).mean()
        self.of_maker.zero_grad()
        loss.backward()
        self.diary.note(maker=loss)
        self.of_maker.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    marbling = Marbling(torch.rand(512, 3, 64, 64, device="cuda"))
    end, step = time.time() + args.seconds, 0
    while time.time() < end:
        for _ in range(3):
            marbling.judge()
        marbling.make()
        step += 1
        print("step", step)
    print(marbling.diary.means())


if __name__ == "__main__":
    main()
