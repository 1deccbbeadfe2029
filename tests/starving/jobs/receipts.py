"""Reads totals from receipts with Accelerate: words, and where on the paper they stand."""

import argparse
import random
import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader


def receipts(count, longest=224):
    draw = random.Random(2)
    for _ in range(count):
        height = draw.uniform(60, 220)
        words = []
        for _ in range(draw.randint(longest // 2, longest)):
            x, y = draw.uniform(0, 70), draw.uniform(0, height - 4)
            box = (x, y, x + draw.uniform(2, 12), y + draw.uniform(2, 4))
            words.append((draw.randrange(1, 9000), box, draw.randrange(4)))
        yield {"height": height, "words": words}


def collate(papers, width=80.0, line=3.0):
    """In the order of reading, boxes in thousandths of the paper, padded to the longest."""
    longest = max(len(paper["words"]) for paper in papers)
    words, boxes, kinds = [], [], []
    for paper in papers:
        height = paper["height"]
        ordered = sorted(paper["words"], key=lambda w: (round(w[1][1] / line), w[1][0]))
        empty = longest - len(ordered)
        words.append([word for word, _, _ in ordered] + [0] * empty)
        kinds.append([kind for _, _, kind in ordered] + [-100] * empty)
        placed = []
        for _, (left, top, right, bottom), _ in ordered:
            scaled = (left / width, top / height, right / width, bottom / height)
            placed.append([max(0, min(999, int(1000 * side))) for side in scaled])
        boxes.append(placed + [[0, 0, 0, 0]] * empty)
    return torch.tensor(words), torch.tensor(boxes), torch.tensor(kinds)


class Reader(nn.Module):
    def __init__(self, width=512, depth=6):
        super().__init__()
        self.words = nn.Embedding(9000, width)
        self.sides = nn.ModuleList(nn.Embedding(1000, width) for _ in range(4))
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True)
        self.layers, self.kind = nn.TransformerEncoder(layer, depth), nn.Linear(width, 4)

    def forward(self, words, boxes):
        x = self.words(words)
        for side, embedding in enumerate(self.sides):
            x = x + embedding(boxes[..., side])
        return self.kind(self.layers(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    accelerator = Accelerator(mixed_precision="bf16")
    loader = DataLoader(
        list(receipts(600)) * 100, batch_size=32, collate_fn=collate, num_workers=1, shuffle=True
    )
    model = Reader()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    deadline = time.time() + args.seconds
    for step, (words, boxes, kinds) in enumerate(loader, 1):
        scores = model(words, boxes)
        accelerator.backward(nn.functional.cross_entropy(scores.transpose(1, 2), kinds))
        optimizer.step()
        optimizer.zero_grad()
        accelerator.print("step", step)
        if time.time() > deadline:
            break


if __name__ == "__main__":
    main()
