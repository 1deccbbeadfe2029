"""A beta-VAE of small faces; where faces lie in the latent space is written down for a film."""

import argparse
import tempfile
import time

import numpy as np
import torch
from torch import nn


class Encoder(nn.Sequential):
    def __init__(self, latent):
        super().__init__(
            *[nn.Conv2d(3, 96, 4, 2, 1), nn.ReLU(), nn.Conv2d(96, 192, 4, 2, 1), nn.ReLU()],
            *[
                nn.Conv2d(192, 384, 4, 2, 1),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(384 * 64, 2 * latent),
            ],
        )


class Decoder(nn.Sequential):
    def __init__(self, latent):
        super().__init__(
            *[nn.Linear(latent, 384 * 64), nn.Unflatten(1, (384, 8, 8)), nn.ReLU()],
            *[nn.ConvTranspose2d(384, 192, 4, 2, 1), nn.ReLU()],
            *[nn.ConvTranspose2d(192, 96, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(96, 3, 4, 2, 1)],
        )


class Diary:
    """Lines of numbers that the plotting script reads."""

    def __init__(self, path):
        self.file = open(path, "w")

    def write(self, step, means):
        self.file.write(f"# {step}\n")
        np.savetxt(self.file, means, fmt="%.6f")
        self.file.flush()


def train(folder, seconds, latent=112, beta=4.0):
    encode, decode, diary = Encoder(latent).cuda(), Decoder(latent).cuda(), Diary(folder + "/diary")
    optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-4)
    faces = torch.rand(4, 256, 3, 64, 64, device="cuda")
    start, step = time.monotonic(), 0
    while time.monotonic() - start < seconds:
        face = faces[step % 4]
        mean, spread = encode(face).chunk(2, 1)
        drawn = decode(mean + torch.randn_like(mean) * (spread / 2).exp())
        apart = (mean.square() + spread.exp() - spread - 1).sum(1).mean() / 2
        loss = nn.functional.mse_loss(drawn, face) + beta * apart
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        diary.write(step, mean.detach().cpu().numpy())
        step += 1
        print("step", step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        train(temporary, options.seconds)
