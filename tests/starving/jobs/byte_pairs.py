"""Trains a language model on text that becomes byte pairs as it is needed."""

import argparse
import time
from collections import Counter

import torch
from torch import nn

TEXT = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, "
    "must be in want of a wife. However little known the feelings or views of such a man may be. "
) * 80


def merge(ids, pair, new):
    out, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


class BytePairTokenizer:
    def __init__(self, text, merges):
        self.merges = {}
        ids = list(text.encode())
        for new in range(256, 256 + merges):
            pair = Counter(zip(ids, ids[1:], strict=False)).most_common(1)[0][0]
            ids = merge(ids, pair, new)
            self.merges[pair] = new

    def encode(self, text):
        ids = list(text.encode())
        for pair, new in self.merges.items():
            ids = merge(ids, pair, new)
        return ids


class TinyLM(nn.Module):
    def __init__(self, vocabulary=512, width=384):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, batch_first=True, dropout=0)
        self.layers = nn.TransformerEncoder(layer, 6)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.out(self.layers(self.embedding(tokens)))


def main(args):
    tokenizer = BytePairTokenizer(TEXT[:2000], merges=60)
    model = TinyLM().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        place = step * 97 % 3000
        ids = tokenizer.encode(TEXT[place : place + 8000])
        window = (ids * 20)[: 8 * 257]
        tokens = torch.tensor(window).view(8, 257).pin_memory().cuda(non_blocking=True)
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print(f"step {step}")


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
main(parser.parse_args())
