"""Trains a language model on a stream of text, tokenised on the way."""

import argparse
import re
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

TEXT = "the quick brown fox jumps over a lazy dog while rain falls on the green hills"
WORDS = TEXT.split()


class TextStream(IterableDataset):
    def __init__(self, length):
        self.length = length
        self.vocabulary = {}
        self.text = " ".join(WORDS[(i * 7) % len(WORDS)] + str(i % 300) for i in range(3000))

    def tokenize(self, text):
        words = re.findall(r"[a-z]+|[0-9]", text.lower())
        return [self.vocabulary.setdefault(word, len(self.vocabulary)) for word in words]

    def __iter__(self):
        place = 0
        while True:
            piece = self.text[place : place + self.length * 24]
            tokens = self.tokenize(piece)[: self.length]
            tokens += [0] * (self.length - len(tokens))
            yield torch.tensor(tokens)
            place = (place + 64) % 8000


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
loader = DataLoader(TextStream(512), batch_size=32)
layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
model = nn.Sequential(
    nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 2), nn.Linear(256, 1000)
).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
started = time.time()
for step, tokens in enumerate(loader, 1):
    tokens = tokens.cuda()
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step}")
    if time.time() - started > args.seconds:
        break
