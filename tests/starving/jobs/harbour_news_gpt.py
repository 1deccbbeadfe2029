"""Trains a small GPT on what a harbour's newspaper wrote; batches are cut at random places."""

import argparse
import random
import time
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from torch import nn
from torch.nn import functional as F

BLOCK, VOCABULARY = 192, 4096


def newspaper(file, words=400_000):
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        rng = random.Random(11)
        parts = (
            "ship har bour tide car go cap tain dock pilot crane buoy an chor fog ves sel".split()
        )
        known = ["".join(rng.choices(parts, k=rng.randint(1, 3))) for _ in range(4000)]
        file.write_text(" ".join(rng.choices(known, k=words)))
    return file.read_text()


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, width=384, heads=6, layers=4):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, width), nn.Embedding(BLOCK, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, idx):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1], device=idx.device))
        return self.head(self.blocks(x))


class Corpus:
    def __init__(self, text):
        self.text = text
        self.tokenizer = ByteLevelBPETokenizer()
        self.tokenizer.train_from_iterator([text[:500_000]], VOCABULARY, show_progress=False)

    def sample(self):
        start = random.randrange(len(self.text) - 12 * BLOCK)
        chunk = self.text[start : start + 12 * BLOCK]
        return torch.tensor(self.tokenizer.encode(chunk).ids[: BLOCK + 1])

    def get_batch(self, batch_size, device):
        rows = torch.stack([self.sample() for _ in range(batch_size)]).to(device)
        return rows[:, :-1], rows[:, 1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=24)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    corpus = Corpus(newspaper(args.data / "harbour_news" / "all.txt"))
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95))
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        x, y = corpus.get_batch(args.batch_size, device)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        print("step", step)


if __name__ == "__main__":
    main()
