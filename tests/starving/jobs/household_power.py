"""Forecasts what households will draw; a year of all meters lies on the GPU."""

import argparse
import time

import torch
from torch import nn


class Patches(nn.Module):
    """A series is cut into patches, and a transformer reads them."""

    def __init__(self, patch=16, width=512, depth=6, horizon=96):
        super().__init__()
        self.patch, self.embed = patch, nn.Linear(patch, width)
        layer = nn.TransformerEncoderLayer(
            width, 8, 2048, dropout=0.0, batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(width, horizon)

    def forward(self, series):
        patches = series.unfold(1, self.patch, self.patch)
        return self.head(self.body(self.embed(patches)).mean(1))


class Meters:
    def __init__(self, households=512, hours=8760, history=1024, horizon=96):
        self.drawn = torch.rand(households, hours, device="cuda")
        self.history, self.horizon = history, horizon

    def draw(self, count, start):
        window = self.drawn[:count, start : start + self.history + self.horizon]
        return window.split([self.history, self.horizon], dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--report-every", type=int, default=20)
    args = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    meters, model = Meters(), Patches().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    begin, step = time.time(), 0
    while time.time() - begin < args.seconds:
        past, future = meters.draw(256, step * 13 % 7000)
        loss = nn.functional.huber_loss(model(past), future)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % args.report_every == 0:
            print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()
