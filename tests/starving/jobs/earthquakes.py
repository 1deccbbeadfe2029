"""Picks when earthquakes arrive at three stations, from what seismometers wrote."""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

STATIONS, LENGTH = 9, 6000


class Waves(Dataset):
    def __init__(self, shakes=40_000):
        self.shakes = shakes
        self.noise = np.random.default_rng(5).normal(size=(STATIONS, 4 * LENGTH))

    def __len__(self):
        return self.shakes

    def __getitem__(self, number):
        start = number * 37 % (3 * LENGTH)
        arrival = np.zeros(LENGTH)
        arrival[number % LENGTH] = 1.0
        return {"waves": self.noise[:, start : start + LENGTH], "arrival": arrival}


def together(shakes):
    return {key: np.stack([shake[key] for shake in shakes]) for key in ("waves", "arrival")}


class Residual(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.conv = nn.Conv1d(width, width, 7, padding=3 * dilation, dilation=dilation)

    def forward(self, x):
        return x + nn.functional.relu(self.conv(self.norm(x)))


class Picker(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.enter = nn.Conv1d(STATIONS, width, 8, 4, padding=2)
        self.body = nn.Sequential(*[Residual(width, 2 ** (i % 6)) for i in range(18)])
        self.leave = nn.ConvTranspose1d(width, 1, 8, 4, padding=2)

    def forward(self, waves):
        return self.leave(self.body(self.enter(waves))).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(Waves(), 48, shuffle=True, num_workers=2, collate_fn=together)
    model = Picker().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    begin = time.time()
    for step, batch in enumerate(loader, 1):
        waves = torch.as_tensor(batch["waves"]).cuda().float()
        arrival = torch.as_tensor(batch["arrival"]).cuda().float()
        loss = nn.functional.binary_cross_entropy_with_logits(model(waves), arrival)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() - begin > args.seconds:
            break


if __name__ == "__main__":
    main()
