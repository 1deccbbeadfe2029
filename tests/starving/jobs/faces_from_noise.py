"""A GAN with large batches whose real faces are on the GPU; its losses are averaged there."""

import argparse
import time

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce

Z = 100


def generator(width=64):
    layers = [nn.ConvTranspose2d(Z, width * 8, 4), nn.BatchNorm2d(width * 8), nn.ReLU(True)]
    for scale in (8, 4, 2):
        layers += [nn.ConvTranspose2d(width * scale, width * scale // 2, 4, 2, 1)]
        layers += [nn.BatchNorm2d(width * scale // 2), nn.ReLU(True)]
    return nn.Sequential(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())


def discriminator(width=64):
    layers = [nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2, True)]
    for scale in (1, 2, 4):
        layers += [nn.Conv2d(width * scale, width * scale * 2, 4, 2, 1)]
        layers += [nn.BatchNorm2d(width * scale * 2), nn.LeakyReLU(0.2, True)]
    return nn.Sequential(*layers, nn.Conv2d(width * 8, 1, 4), nn.Flatten(0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=512)
    args = parser.parse_args()
    g, d = generator().cuda(), discriminator().cuda()
    g_opt = torch.optim.Adam(g.parameters(), 2e-4, (0.5, 0.999))
    d_opt = torch.optim.Adam(d.parameters(), 2e-4, (0.5, 0.999))
    faces = torch.rand(args.batch, 3, 64, 64, device="cuda") * 2 - 1
    real, fake = torch.ones(args.batch, device="cuda"), torch.zeros(args.batch, device="cuda")
    sums, step, start = torch.zeros(2, device="cuda"), 0, time.time()
    while time.time() - start < args.seconds:
        made = g(torch.randn(args.batch, Z, 1, 1, device="cuda"))
        d_opt.zero_grad()
        d_loss = bce(d(faces), real) + bce(d(made.detach()), fake)
        d_loss.backward()
        d_opt.step()
        g_opt.zero_grad()
        g_loss = bce(d(made), real)
        g_loss.backward()
        g_opt.step()
        sums += torch.stack([d_loss.detach(), g_loss.detach()])
        step += 1
        if step % 4 == 0:
            print("step", step)
        if step % 50 == 0:
            print("losses", (sums / step).tolist())


main()
