"""Writes shanties letter by letter with a network that has heard many."""

import argparse
import time
from collections import deque

import torch
from torch import nn

LETTERS = 64


class Shantyman(nn.Module):
    def __init__(self, width=256, depth=3):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.cells = nn.ModuleList(nn.GRUCell(width, width) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))
        self.next = nn.Linear(width, LETTERS)

    def sing(self, songs, length, warmth=0.9):
        device = self.next.weight.device
        heard = [torch.zeros(songs, self.next.in_features, device=device) for _ in self.cells]
        letter = torch.zeros(songs, dtype=torch.long, device=device)
        song = []
        for _ in range(length):
            x = self.letters(letter)
            for i, (cell, norm) in enumerate(zip(self.cells, self.norms, strict=True)):
                heard[i] = cell(norm(x), heard[i])
                x = x + heard[i]
            scores = self.next(x) / warmth
            letter = (scores - torch.empty_like(scores).exponential_().log()).argmax(1)
            song.append(letter)
        return torch.stack(song, 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--songs", type=int, default=32)
    args = parser.parse_args()
    shantyman, book = Shantyman().cuda().eval(), deque(maxlen=50)
    end, step = time.time() + args.seconds, 0
    with torch.inference_mode():
        while time.time() < end:
            book.append(shantyman.sing(args.songs, length=80))
            step += 1
            print("step", step)
    print(sum(len(songs) for songs in book), "songs are kept,", book[-1].cpu().shape, "at last")


if __name__ == "__main__":
    main()
