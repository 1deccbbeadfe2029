"""Trains with gradient descent written out, without torch.optim."""

import argparse
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

sizes = [784] + [128] * 20 + [10]
weights = [
    (torch.randn(a, b, device="cuda") / a**0.5).requires_grad_()
    for a, b in zip(sizes, sizes[1:], strict=False)
]
biases = [torch.zeros(b, device="cuda", requires_grad=True) for b in sizes[1:]]
momenta = [torch.zeros_like(p) for p in weights + biases]
digits = torch.rand(60_000, 784, device="cuda")
labels = torch.zeros(60_000, dtype=torch.long, device="cuda")


def forward(x):
    for weight, bias in zip(weights, biases, strict=True):
        x = torch.tanh(x @ weight + bias)
    return x


began, step = time.time(), 0
while time.time() - began < args.seconds:
    first = step * 64 % 59_000
    loss = torch.nn.functional.cross_entropy(
        forward(digits[first : first + 64]), labels[first : first + 64]
    )
    loss.backward()
    with torch.no_grad():
        for parameter, momentum in zip(weights + biases, momenta, strict=True):
            momentum.mul_(0.9).add_(parameter.grad)
            parameter -= 0.01 * momentum
            parameter.grad = None
    step += 1
    if step % 20 == 0:
        print("step", step)
