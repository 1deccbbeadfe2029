"""Trains a language model on tokens in one array, as most do."""

import argparse
import time

import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

tokens = np.random.default_rng(0).integers(0, 16_000, 2_000_000, dtype=np.uint16)
layer = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
model = nn.Sequential(
    nn.Embedding(16_000, 1024), nn.TransformerEncoder(layer, 8), nn.Linear(1024, 16_000)
).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)


def get_batch(size, length):
    starts = np.random.randint(0, len(tokens) - length - 1, size)
    rows = np.stack([tokens[i : i + length + 1] for i in starts]).astype(np.int64)
    return torch.from_numpy(rows).pin_memory().cuda(non_blocking=True)


started, step = time.time(), 0
while time.time() - started < args.seconds:
    rows = get_batch(16, 512)
    logits = model(rows[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    step += 1
    if step % 2 == 0:
        print(f"step {step}")
