"""A spiking network, as neurons are: potentials leak and fire over forty moments."""

import argparse
import time

import torch
from torch import nn


class Spike(torch.autograd.Function):
    """A step forward, a smooth slope backward."""

    @staticmethod
    def forward(ctx, potential):
        ctx.save_for_backward(potential)
        return (potential > 0).to(potential.dtype)

    @staticmethod
    def backward(ctx, gradient):
        (potential,) = ctx.saved_tensors
        return gradient / (1 + 10 * potential.abs()) ** 2


class Leaky(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.inputs = nn.Linear(inputs, outputs)
        self.leak = nn.Parameter(torch.full((outputs,), 0.9))

    def forward(self, x, potential):
        potential = self.leak.clamp(0, 1) * potential + self.inputs(x)
        spikes = Spike.apply(potential - 1)
        return spikes, potential - spikes.detach()


class Retina(nn.Module):
    def __init__(self, sizes=(784, 256, 128, 10)):
        super().__init__()
        self.layers = nn.ModuleList(Leaky(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True))

    def forward(self, light, moments=40):
        potentials = [light.new_zeros(len(light), 1) for _ in self.layers]
        fired = 0
        for _ in range(moments):
            x = (torch.rand_like(light) < light).float()
            for i, layer in enumerate(self.layers):
                x, potentials[i] = layer(x, potentials[i])
            fired = fired + x
        return fired / moments


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    retina = Retina().cuda()
    optimizer = torch.optim.Adamax(retina.parameters(), lr=2e-3)
    light = torch.rand(128, 784, device="cuda")
    digits = torch.zeros(len(light), dtype=torch.long, device="cuda")
    begun, step = time.time(), 0
    while time.time() - begun < args.seconds:
        loss = nn.functional.cross_entropy(retina(light), digits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
