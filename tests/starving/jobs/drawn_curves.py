"""Trains an autoencoder and draws its curves for whoever looks at them in a browser."""

import argparse
import tempfile
import time
from pathlib import Path

import matplotlib
import torch
from torch import nn

matplotlib.use("Agg")
import matplotlib.pyplot as plt


class ConvAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 64, 4, 2, 1), nn.ReLU(), nn.Conv2d(64, 128, 4, 2, 1), nn.ReLU()
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(64, 3, 4, 2, 1)
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def draw(rates, path):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3))
    axes[0].plot(rates, label="learning rate")
    axes[0].legend()
    axes[1].hist(rates, bins=30)
    figure.savefig(path)
    plt.close(figure)


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
net = ConvAutoencoder().cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10_000)
images = torch.rand(64, 3, 128, 128, device="cuda")
with tempfile.TemporaryDirectory() as folder:
    curve = Path(folder, "curve.png")
    rates, start = [], time.time()
    while time.time() - start < args.seconds:
        loss = nn.functional.l1_loss(net(images), images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
        if len(rates) % 8 == 0:
            draw(rates, curve)
            print(f"step {len(rates)}")
