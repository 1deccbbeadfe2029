"""Trains a masked language model; the masks are drawn in the training loop."""

import argparse
import random
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
LENGTH, BATCH, MASK = 256, 64, 3


def mask_words(rows):
    masked, targets = [], []
    for row in rows:
        new, wanted = [], []
        for token in row:
            if random.random() < 0.15:
                new.append(MASK if random.random() < 0.8 else random.randrange(4, 1000))
                wanted.append(token)
            else:
                new.append(token)
                wanted.append(-100)
        masked.append(new)
        targets.append(wanted)
    return torch.tensor(masked), torch.tensor(targets)


layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
encoder = nn.TransformerEncoder(layer, 1)
model = nn.Sequential(nn.Embedding(1000, 64), encoder, nn.Linear(64, 1000)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
corpus = [[random.randrange(4, 1000) for _ in range(LENGTH)] for _ in range(512)]
step, started = 0, time.time()
while time.time() - started < args.seconds:
    tokens, targets = mask_words(corpus[step * BATCH % 448 :][:BATCH])
    logits = model(tokens.cuda())
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.cuda().flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 5 == 0:
        print(f"step {step}")
