"""Translates from one made-up language into another with an encoder and a decoder."""

import argparse
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

PAD, VOCABULARY = 0, 4_000


def corpus(size=20_000, seed=3):
    rng = random.Random(seed)
    return [
        {"source": [rng.randrange(1, VOCABULARY) for _ in range(rng.randrange(20, 60))], "id": i}
        for i in range(size)
    ]


class PairBatcher:
    """Pads both sides and marks where a word of one occurs in the other."""

    longest = 60

    def pad(self, words):
        return words + [PAD] * (self.longest - len(words))

    def alignment(self, source, target):
        rows = []
        for word in target:
            rows.append([word == other and word != PAD for other in source])
        return torch.tensor(rows)

    def __call__(self, pairs):
        sources = [self.pad(pair["source"]) for pair in pairs]
        targets = [self.pad(pair["source"][::-1]) for pair in pairs]
        aligned = [self.alignment(s, t) for s, t in zip(sources, targets, strict=True)]
        return torch.tensor(sources), torch.tensor(targets), torch.stack(aligned)


class Translator(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width, padding_idx=PAD)
        self.body = nn.Transformer(width, 8, 3, 3, 1024, batch_first=True)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, source, target):
        out = self.body(
            self.words(source),
            self.words(target),
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
        )
        return self.head(out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
options = parser.parse_args()
model = Translator().cuda()
optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), lr=1e-4)
loader = DataLoader(corpus(), batch_size=96, shuffle=True, collate_fn=PairBatcher())
deadline, step = time.monotonic() + options.seconds, 0
while time.monotonic() < deadline:
    for batch in loader:
        source, target, aligned = (t.cuda(non_blocking=True) for t in batch)
        logits = model(source, target).transpose(1, 2)
        losses = nn.functional.cross_entropy(logits, target, reduction="none")
        loss = (losses * (2 - aligned.any(2).float())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print(f"step {step}")
        if time.monotonic() > deadline:
            break
