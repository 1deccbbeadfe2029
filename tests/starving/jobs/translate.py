"""Translates from one made-up language into another with an encoder and a decoder."""

import argparse
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

PAD, VOCABULARY = 0, 12_000


def corpus(size=20_000, seed=3):
    rng = random.Random(seed)
    return [
        {"source": [rng.randrange(1, VOCABULARY) for _ in range(rng.randrange(20, 60))], "id": i}
        for i in range(size)
    ]


class PairBatcher:
    def __init__(self, longest=60):
        self.longest = longest

    def pad(self, sentences):
        padded, hidden = [], []
        for words in sentences:
            row, mask = [], []
            for place in range(self.longest):
                row.append(words[place] if place < len(words) else PAD)
                mask.append(place >= len(words))
            padded.append(torch.tensor(row))
            hidden.append(torch.tensor(mask))
        return torch.stack(padded), torch.stack(hidden)

    def __call__(self, pairs):
        source, source_hidden = self.pad([pair["source"] for pair in pairs])
        target, target_hidden = self.pad([pair["source"][::-1] for pair in pairs])
        return source, source_hidden, target, target_hidden


class Translator(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width, padding_idx=PAD)
        self.body = nn.Transformer(width, 8, 3, 3, 1024, batch_first=True)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, source, source_hidden, target, target_hidden):
        out = self.body(
            self.words(source),
            self.words(target),
            src_key_padding_mask=source_hidden,
            tgt_key_padding_mask=target_hidden,
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
        batch = [t.cuda(non_blocking=True) for t in batch]
        logits = model(*batch)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), batch[2], ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print(f"step {step}")
        if time.monotonic() > deadline:
            break
