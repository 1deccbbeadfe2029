"""Foresees faults of wind turbines from a week of their sensors."""

import argparse
import time

import torch
from timm.utils import adaptive_clip_grad
from torch import nn
from tqdm import tqdm


class PatchTransformer(nn.Module):
    def __init__(self, sensors=24, patch=16, width=256, depth=5):
        super().__init__()
        self.patch = patch
        self.enter = nn.Linear(sensors * patch, width)
        self.place = nn.Parameter(torch.zeros(1, 1024, width))
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True)
        self.body, self.fault = nn.TransformerEncoder(layer, depth), nn.Linear(width, 3)

    def forward(self, x):
        rows, length, sensors = x.shape
        patches = x.reshape(rows, length // self.patch, self.patch * sensors)
        x = self.enter(patches) + self.place[:, : patches.shape[1]]
        return self.fault(self.body(x).amax(1))


def weeks(seconds, device, batch=48, length=2016):
    """Windows of records that lie on the GPU, until the time is over."""
    records = torch.zeros(50_000, 24, device=device)
    faults = torch.zeros(batch, dtype=torch.long, device=device)
    end, start = time.time() + seconds, 0
    while time.time() < end:
        start = (start + 997) % 10_000
        window = records.narrow(0, start, 16 * length).view(16, length, 24)
        yield window.repeat(batch // 16, 1, 1), faults
        start += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = torch.device("cuda")
    model = PatchTransformer().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    bar = tqdm(weeks(args.seconds, device), mininterval=1)
    for step, (x, y) in enumerate(bar, 1):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        bar.set_postfix(loss=f"{loss:.4f}", refresh=False)
        adaptive_clip_grad(model.parameters(), 0.02)
        optimizer.step()
        tqdm.write(f"step {step}")


if __name__ == "__main__":
    main()
