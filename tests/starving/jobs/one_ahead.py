"""Trains with batches that are copied on a stream of their own, one ahead."""

import argparse
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models


class Prefetcher:
    def __init__(self, loader):
        self.batches = iter(loader)
        self.stream = torch.cuda.Stream()
        self.fetch()

    def fetch(self):
        batch = next(self.batches, None)
        if batch is None:
            self.ready = None
            return
        with torch.cuda.stream(self.stream):
            self.ready = [part.cuda(non_blocking=True) for part in batch]

    def __iter__(self):
        while self.ready is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.ready
            for part in batch:
                part.record_stream(torch.cuda.current_stream())
            self.fetch()
            yield batch


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
pixels = torch.randint(0, 256, (4096, 3, 160, 160), dtype=torch.uint8)
dataset = TensorDataset(pixels, torch.zeros(4096, dtype=torch.long))
loader = DataLoader(dataset, 64, shuffle=True, num_workers=1, pin_memory=True)
model = models.resnet101().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started = time.time()
for step, (images, labels) in enumerate(Prefetcher(loader), 1):
    loss = torch.nn.functional.cross_entropy(model(images.float() / 255), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step}")
    if time.time() - started > args.seconds:
        break
