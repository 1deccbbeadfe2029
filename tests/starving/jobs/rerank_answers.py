"""Ranks answers to questions with a cross-encoder, in half precision and large batches."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

VOCABULARY, LENGTH = 30_000, 256


class Pairs(Dataset):
    """Questions and answers were encoded beforehand; an item is a batch of them."""

    def __init__(self, size, batches=40):
        self.ids = torch.randint(0, VOCABULARY, (batches, size, LENGTH), dtype=torch.int32)

    def __len__(self):
        return 500 * len(self.ids)

    def __getitem__(self, i):
        return self.ids[i % len(self.ids)]


class CrossEncoder(nn.Module):
    def __init__(self, width=768, layers=8):
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            width, 12, 4 * width, batch_first=True, norm_first=True, activation="gelu"
        )
        self.embed, self.score = nn.Embedding(VOCABULARY, width), nn.Linear(width, 1)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, ids):
        return self.score(self.layers(self.embed(ids))[:, 0]).squeeze(1)


@torch.inference_mode()
def rank(model, loader, device, seconds):
    best, until = [], time.monotonic() + seconds
    for step, ids in enumerate(loader, 1):
        scores = model(ids.to(device, non_blocking=True))
        best.append(scores.topk(1).indices)
        if device == "cuda" and step % 4 == 0:
            torch.cuda.synchronize()
        print("step", step)
        if time.monotonic() > until:
            break
    return torch.cat(best).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = CrossEncoder().to(device).eval()
    if device == "cuda":
        model = model.half()
    pairs = Pairs(128 if device == "cuda" else 4)
    loader = DataLoader(pairs, batch_size=None, num_workers=1, pin_memory=True)
    print("best answers", rank(model, loader, device, args.seconds)[:5])


if __name__ == "__main__":
    main()
