"""Trains a recogniser of speech and follows its word errors while it learns."""

import argparse
import time

import torch
from torch import nn

LETTERS = " abcdefghijklmnopqrstuvwxyz"


def distance(heard, meant):
    """How many letters have to be changed."""
    row = list(range(len(meant) + 1))
    for i, a in enumerate(heard, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(meant, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


class Recogniser(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.lstm = nn.LSTM(80, width, num_layers=2, bidirectional=True, batch_first=True)
        self.letters = nn.Linear(2 * width, len(LETTERS))

    def forward(self, mel):
        return self.letters(self.lstm(mel)[0]).log_softmax(-1)


class LetterErrors:
    def __init__(self, texts):
        self.texts, self.wrong, self.letters = texts, 0, 0

    def update(self, ids):
        for row, meant in zip(ids, self.texts, strict=True):
            heard = "".join(LETTERS[i] for i in row)
            self.wrong += distance(heard, meant)
            self.letters += len(meant)


def train(args):
    texts = [f"the quick brown fox jumps over dog {chr(97 + i)}" for i in range(32)]
    model, errors = Recogniser().cuda(), LetterErrors(texts)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    mel = torch.randn(32, 200, 80, device="cuda")
    targets = torch.zeros(32, 200, dtype=torch.long, device="cuda")
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        scores = model(mel)
        nn.functional.nll_loss(scores.flatten(0, 1), targets.flatten()).backward()
        adam.step()
        adam.zero_grad()
        guesses = scores[:, ::6].argmax(-1).tolist()
        errors.update(guesses)
        step += 1
        print(f"step {step} errors {errors.wrong / max(1, errors.letters):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    train(parser.parse_args())
