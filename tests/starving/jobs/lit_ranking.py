"""Ranks films for viewers with Lightning and follows how good the lists are."""

import argparse
import math
from datetime import timedelta

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader


def gain_of_list(scores, wanted, depth=100):
    """Normalised discounted cumulative gain of one viewer."""
    order = sorted(range(len(scores)), key=lambda film: -scores[film])[:depth]
    gained = sum(wanted[film] / math.log2(place + 2) for place, film in enumerate(order))
    ideal = sorted(wanted, reverse=True)[:depth]
    return gained / (sum(w / math.log2(place + 2) for place, w in enumerate(ideal)) or 1.0)


class Ranker(L.LightningModule):
    def __init__(self, films=4000, width=2048, depth=5):
        super().__init__()
        sizes = [films, *[width] * depth]
        layers = [
            nn.Sequential(nn.Linear(a, b), nn.SELU())
            for a, b in zip(sizes[:-1], sizes[1:], strict=True)
        ]
        self.net = nn.Sequential(*layers, nn.Linear(width, films))
        self.total, self.count = 0.0, 0

    def training_step(self, batch, number):
        seen, wanted = batch
        scores = self.net(seen)
        if number % 2 == 0:
            self.follow(scores.detach()[:8], wanted[:8])
        return -(wanted * scores.log_softmax(-1)).sum(-1).mean()

    def follow(self, scores, wanted):
        for row, want in zip(scores.tolist(), wanted.tolist(), strict=True):
            self.total += gain_of_list(row, want)
            self.count += 1

    def on_train_batch_end(self, *_):
        print("step", self.global_step)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def viewers(count, films=4000):
    seen = (torch.rand(count, 512, films) < 0.02).float().pin_memory()
    return [(batch, batch) for batch in seen]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    trainer = L.Trainer(
        accelerator="gpu",
        max_time=timedelta(seconds=args.seconds),
        max_epochs=-1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(Ranker(), DataLoader(viewers(4) * 2000, batch_size=None))
