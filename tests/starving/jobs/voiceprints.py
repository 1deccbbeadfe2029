"""Tells speakers apart; how large gradients are in each layer is kept for a plot."""

import argparse
import time
from collections import defaultdict

import torch
from torch import nn
from torch.nn.functional import normalize


class Block(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation)
        self.norm = nn.BatchNorm1d(width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        y = self.norm(self.conv(x)).relu()
        return x + y * self.gate(y.mean(-1)).sigmoid().unsqueeze(-1)


class Voice(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.enter = nn.Conv1d(80, width, 5, padding=2)
        self.blocks = nn.Sequential(*[Block(width, 1 + i % 4) for i in range(10)])
        self.leave = nn.Linear(2 * width, 192)

    def forward(self, mel):
        x = self.blocks(self.enter(mel))
        return normalize(self.leave(torch.cat([x.mean(-1), x.std(-1)], 1)))


class Plot:
    def __init__(self):
        self.sizes = defaultdict(list)

    def take(self, model):
        for name, parameter in model.named_parameters():
            self.sizes[name].append(parameter.grad.norm().item())


def ge2e(prints, speakers, scale=10.0):
    prints = prints.view(speakers, -1, prints.shape[-1])
    means = normalize(prints.mean(1), dim=-1)
    scores = prints.flatten(0, 1) @ means.T * scale
    own = torch.arange(speakers, device=prints.device).repeat_interleave(prints.shape[1])
    return nn.functional.cross_entropy(scores, own)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    model, plot = Voice().cuda(), Plot()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    speech = torch.randn(32, 80, 136, device="cuda")
    begin, step = time.time(), 0
    while time.time() - begin < args.seconds:
        loss = ge2e(model(speech), speakers=8)
        optimizer.zero_grad()
        loss.backward()
        plot.take(model)
        optimizer.step()
        step += 1
        if step % 5 == 0:
            print("step", step)
