"""Trains a network while hooks watch how large its activations are."""

import argparse
import time
from collections import defaultdict

import torch
from torch import nn
from torchvision import models


class ActivationWatch:
    """Keeps the largest activation of every convolution, for a look at it later."""

    def __init__(self, model):
        self.peaks = defaultdict(list)
        for name, module in model.named_modules():
            if isinstance(module, nn.Conv2d):
                module.register_forward_hook(self.hook(name))

    def hook(self, name):
        def keep(module, inputs, output):
            peak = float(output.detach().abs().max())
            self.peaks[name].append(peak)

        return keep


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    model = models.resnet50(num_classes=100).cuda()
    watch = ActivationWatch(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(32, 3, 128, 128, device="cuda")
    y = torch.randint(0, 100, (32,), device="cuda")
    start = time.perf_counter()
    step = 0
    while time.perf_counter() - start < args.seconds:
        opt.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        step += 1
        if step % 4 == 0:
            print(f"step {step}: {len(watch.peaks)} layers watched")


main()
