"""Tells bedtime stories: a small GPT, of which all text is on the GPU."""

import argparse
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

VOCABULARY, LENGTH, WIDTH, HEADS = 8192, 512, 768, 12


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.mix = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        seen = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.mix(seen.transpose(1, 2).flatten(2))
        return x + self.narrow(gelu(self.wide(self.between(x))))


class Teller(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(depth)])
        self.norm, self.next = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[: ids.shape[1]]
        return self.next(self.norm(self.blocks(x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=6)
    args = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    text = torch.randint(0, VOCABULARY, (2_000_000,), device="cuda")
    ahead = torch.arange(LENGTH + 1, device="cuda")
    teller = Teller().cuda()
    optimizer = torch.optim.AdamW(teller.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)
    begin, step = time.time(), 0
    while time.time() - begin < args.seconds:
        starts = torch.randint(0, len(text) - LENGTH - 1, (args.batch, 1), device="cuda")
        window = text[starts + ahead]
        scores = teller(window[:, :-1])
        loss = cross_entropy(scores.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(teller.parameters(), 1.0)
        optimizer.step()
        step += 1
        print("step", step)
        if step % 25 == 0:
            print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
