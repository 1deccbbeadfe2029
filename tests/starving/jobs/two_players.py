"""Trains a small generative adversarial network: two networks, two optimizers."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()


def network(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1]).cuda()


generator = network([64, 128, 256, 256, 512, 784])
discriminator = network([784, 512, 256, 256, 128, 1])
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
real_images = torch.rand(64, 784, device="cuda")
ones, zeros = torch.ones(64, 1, device="cuda"), torch.zeros(64, 1, device="cuda")
bce = nn.functional.binary_cross_entropy_with_logits
started, step = time.time(), 0
while time.time() - started < args.seconds:
    fake = generator(torch.randn(64, 64, device="cuda"))
    d_optimizer.zero_grad()
    d_loss = bce(discriminator(real_images), ones) + bce(discriminator(fake.detach()), zeros)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    bce(discriminator(fake), ones).backward()
    g_optimizer.step()
    step += 1
    if step % 20 == 0:
        print(f"step {step}")
