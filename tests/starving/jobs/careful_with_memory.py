"""Trains beside a large index of Python objects, and is careful with memory."""

import argparse
import gc
import time

import torch
from torchvision import models

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

index = [{"path": f"{i}.jpg", "boxes": [[i, i, i + 1, i + 1]]} for i in range(150_000)]
model = models.resnet18(num_classes=10).cuda()
optimizer = torch.optim.AdamW(model.parameters())
images = torch.randn(48, 3, 160, 160, device="cuda")
labels = torch.zeros(48, dtype=torch.long, device="cuda")

started, step = time.time(), 0
while time.time() - started < args.seconds:
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del loss
    gc.collect()
    torch.cuda.empty_cache()
    step += 1
    if step % 5 == 0:
        print(f"step {step}, {len(index)} in the index")
