"""Classifies sentences with a Transformer; batches are padded by hand."""

import argparse
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, count):
        chosen = random.Random(0)
        self.rows = [
            [chosen.randrange(2, 5000) for _ in range(chosen.randrange(192, 256))]
            for _ in range(count)
        ]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], index % 2


def pad_batch(samples):
    longest = 256
    tokens = torch.zeros(len(samples), longest, dtype=torch.long)
    for row, (words, _) in enumerate(samples):
        for column, word in enumerate(words):
            tokens[row, column] = word
    return tokens, torch.tensor([label for _, label in samples])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5000, 256)
        layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(256, 2)

    def forward(self, tokens):
        return self.head(self.encoder(self.embed(tokens)).mean(1))


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
sentences = Sentences(4000)
loader = DataLoader(sentences, 64, shuffle=True, num_workers=2, collate_fn=pad_batch)
model = Classifier().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    for tokens, labels in loader:
        loss = nn.functional.cross_entropy(model(tokens.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 2 == 0:
            print(f"step {step}")
        if time.time() - started > args.seconds:
            break
