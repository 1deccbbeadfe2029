"""Finds names of people and places in news; how many were found whole is counted as it trains."""

import argparse
import time
from collections import Counter

import torch
from torch import nn
from transformers import ElectraConfig, ElectraForTokenClassification

KINDS = ("PER", "ORG", "LOC", "MISC")
TAGS = ["O"] + [f"{where}-{kind}" for kind in KINDS for where in "BI"]


def spans(tags):
    """Names as (kind, first, last) from tags that begin with B-, go on with I- or are O."""
    found, begin, kind = set(), None, None
    for place, tag in enumerate([*tags, "O"]):
        where, _, this = tag.partition("-")
        if begin is not None and (where != "I" or this != kind):
            found.add((kind, begin, place - 1))
            begin = None
        if where == "B" or (where == "I" and begin is None):
            begin, kind = place, this
    return found


class Found:
    def __init__(self):
        self.counts, self.kinds = Counter(), Counter()

    def update(self, guesses, truth):
        for guess, true in zip(guesses.tolist(), truth.tolist(), strict=True):
            guessed = spans([TAGS[i] for i in guess])
            wanted = spans([TAGS[i] for i in true])
            self.counts["both"] += len(guessed & wanted)
            self.counts["guessed"] += len(guessed)
            self.counts["wanted"] += len(wanted)
            self.kinds.update(kind for kind, _, _ in wanted - guessed)

    def f1(self):
        return 2 * self.counts["both"] / max(1, self.counts["guessed"] + self.counts["wanted"])


def news(batch, length, batches=8):
    ids = torch.randint(5, 12_000, (batches, batch, length))
    tags = torch.randint(0, len(TAGS), (batches, batch, length))
    return ids.cuda(), tags


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    config = ElectraConfig(vocab_size=12_000, hidden_size=256, num_attention_heads=4)
    config.num_hidden_layers, config.intermediate_size, config.num_labels = 4, 1024, len(TAGS)
    model = ElectraForTokenClassification(config).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    ids, tags = news(args.batch, 160)
    on_gpu, found = tags.cuda(), Found()
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        i = step % len(ids)
        scores = model(input_ids=ids[i]).logits
        nn.functional.cross_entropy(scores.flatten(0, 1), on_gpu[i].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        found.update(scores.argmax(-1), tags[i])
        step += 1
        print(f"step {step} f1 {found.f1():.3f}")


if __name__ == "__main__":
    main()
