"""Sequence to sequence with attention, as in the tutorial: the decoder goes word by word."""

import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH, HIDDEN, WORDS = 24, 128, 4000


class AttentionDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, HIDDEN)
        self.query, self.key = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.energy = nn.Linear(HIDDEN, 1)
        self.gru = nn.GRUCell(2 * HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, WORDS)

    def word(self, token, hidden, memory):
        scores = self.energy(torch.tanh(self.query(hidden).unsqueeze(1) + self.key(memory)))
        context = (scores.softmax(1) * memory).sum(1)
        hidden = self.gru(torch.cat([self.embedding(token), context], 1), hidden)
        return self.out(hidden), hidden

    def forward(self, memory, targets):
        hidden, outputs = memory[:, -1], []
        token = torch.ones_like(targets[:, 0])
        for place in range(targets.shape[1]):
            logits, hidden = self.word(token, hidden, memory)
            outputs.append(logits)
            token = targets[:, place]
        return torch.stack(outputs, 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    decoder = AttentionDecoder().cuda()
    optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-3)
    batch = 32
    memory = torch.randn(batch, LENGTH, HIDDEN, device="cuda")
    targets = torch.zeros(batch, LENGTH, dtype=torch.long, device="cuda")
    step, start = 0, time.time()
    while time.time() - start < args.seconds:
        optimizer.zero_grad()
        logits = decoder(memory, targets)
        F.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
        step += 1
        print(f"step {step}")


if __name__ == "__main__":
    main()
