"""Ranks songs for a listener; those that the listener never heard are the negatives."""

import argparse
import random
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SONGS, LISTENERS, SESSION, NEGATIVES = 6000, 1500, 40, 40


class Sessions(Dataset):
    def __init__(self, seed=45):
        draw = np.random.default_rng(seed)
        self.songs = draw.integers(1, SONGS, (LISTENERS, 120))
        self.heard = [songs.tolist() for songs in self.songs]

    def __len__(self):
        return 100 * LISTENERS

    def negatives(self, listener):
        found = []
        while len(found) < NEGATIVES:
            song = random.randrange(1, SONGS)
            if song not in self.heard[listener]:
                found.append(song)
        return np.array(found)

    def __getitem__(self, i):
        listener = i % LISTENERS
        start = random.randrange(120 - SESSION)
        session = self.songs[listener, start : start + SESSION]
        return session, self.songs[listener, start + SESSION], self.negatives(listener)


class Ranker(nn.Module):
    def __init__(self, width=320, layers=3):
        super().__init__()
        self.songs = nn.Embedding(SONGS, width)
        layer = nn.TransformerEncoderLayer(width, 5, 4 * width, 0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, layers)

    def forward(self, session, candidates):
        taste = self.body(self.songs(session))[:, -1]
        return (self.songs(candidates) @ taste[..., None]).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--top", type=int, default=10)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(Sessions(), batch_size=128, shuffle=True)
    model = Ranker().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    hits, gain, seen, until = 0, 0, 0, time.monotonic() + args.seconds
    for step, (session, following, negatives) in enumerate(loader, 1):
        candidates = torch.cat((following[:, None], negatives), 1).to(device)
        scores = model(session.to(device), candidates)
        loss = nn.functional.cross_entropy(scores, torch.zeros_like(candidates[:, 0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ranks = (scores > scores[:, :1]).sum(1)
        hits += sum((rank < args.top).item() for rank in ranks)
        gain += sum((1 / (1 + rank)).item() for rank in ranks)
        seen += len(ranks)
        print("step", step)
        if step % 100 == 0:
            print(f"hits@{args.top}: {hits / seen:.4f}, reciprocal rank {gain / seen:.4f}")
        if time.monotonic() > until:
            break


if __name__ == "__main__":
    main()
