"""A radiance field of a room: colours along rays through pixels of a few photographs."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn


class Photographs:
    """Pictures with the places they were taken from, and rays through any of their pixels."""

    def __init__(self, folder, count=20, focal=420.0):
        files = sorted(Path(folder).glob("*/*.jpg"))[:count]
        self.pixels = np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files])
        self.focal, self.draw = focal, np.random.default_rng(0)
        turns = np.linspace(0, 2 * np.pi, count, endpoint=False)
        self.poses = np.zeros((count, 3, 4))
        for pose, turn in zip(self.poses, turns, strict=True):
            sine, cosine = np.sin(turn), np.cos(turn)
            pose[:, :3] = [[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]]
            pose[:, 3] = 4 * sine, 0, 4 * cosine

    def rays(self, count):
        """Of one photograph: where some of its rays begin, where to they go, their colours."""
        picture = self.draw.integers(len(self.pixels))
        colours, pose = self.pixels[picture].reshape(-1, 3), self.poses[picture]
        height, width = self.pixels.shape[1:3]
        x, y = np.meshgrid(np.arange(width) - width / 2, np.arange(height) - height / 2)
        toward = np.stack([x / self.focal, -y / self.focal, -np.ones_like(x)], -1)
        directions = (toward[..., None, :] * pose[:, :3]).sum(-1).reshape(-1, 3)
        origins = np.broadcast_to(pose[:, 3], directions.shape)
        some = self.draw.integers(len(colours), size=count)
        parts = (origins[some], directions[some], colours[some] / 255)
        return [part.astype(np.float32) for part in parts]


class Field(nn.Module):
    def __init__(self, width=256, bands=6):
        super().__init__()
        self.bands = bands
        sizes = [6 * bands, *[width] * 6]
        layers = [nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)]
        self.layers, self.out = nn.ModuleList(layers), nn.Linear(width, 4)

    def forward(self, points):
        waves = [f(points * 2**i) for i in range(self.bands) for f in (torch.sin, torch.cos)]
        x = torch.cat(waves, -1)
        for layer in self.layers:
            x = layer(x).relu()
        return self.out(x)


def render(field, origins, directions, near=2.0, far=6.0, samples=16):
    depths = torch.linspace(near, far, samples, device="cuda")
    points = origins[:, None] + depths[:, None] * directions[:, None]
    *colour, density = field(points).unbind(-1)
    alpha = 1 - torch.exp(-density.relu() * (far - near) / samples)
    through = torch.cumprod(1 - alpha + 1e-10, -1)
    return (torch.stack(colour, -1).sigmoid() * (alpha * through)[..., None]).sum(1)


def main(data, seconds, count=4000):
    photographs = Photographs(data + "/train")
    field = Field().cuda()
    optimizer = torch.optim.Adam(field.parameters(), lr=5e-4)
    started, step = time.time(), 0
    while time.time() - started < seconds:
        rays = photographs.rays(count)
        origins, directions, colours = (torch.from_numpy(part).cuda() for part in rays)
        loss = (render(field, origins, directions) - colours).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print("step", step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()
    main(arguments.data, arguments.seconds)
