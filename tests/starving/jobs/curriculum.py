"""Trains on easy examples first: each round takes a larger part of what is sorted by difficulty."""

import argparse
import time

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Subset, TensorDataset
from torchvision.models import resnet18

BATCH = 64


def loader_for(examples, order, hardest):
    subset = Subset(examples, order[:hardest].tolist())
    return DataLoader(subset, BATCH, shuffle=True, num_workers=3, pin_memory=True)


def one_round(model, optimizer, loader, step):
    for x, y in loader:
        x = x.to("cuda", non_blocking=True).float().sub_(128).div_(64)
        loss = nn.functional.cross_entropy(model(x), y.to("cuda", non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print(f"step {step}", flush=True)
    return step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    torch.manual_seed(1)
    examples = TensorDataset(
        torch.randint(0, 256, (2048, 3, 128, 128), dtype=torch.uint8),
        torch.randint(0, 10, (2048,)),
    )
    order = torch.rand(2048).argsort()
    model = resnet18(num_classes=10).cuda()
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)
    start, step, share = time.time(), 0, 0.25
    while time.time() - start < args.seconds:
        loader = loader_for(examples, order, int(share * 2048))
        step = one_round(model, optimizer, loader, step)
        share = min(0.5, share + 0.05)


if __name__ == "__main__":
    main()
