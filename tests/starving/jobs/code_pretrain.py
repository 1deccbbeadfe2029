"""Pre-trains a decoder on source files; several files share a row and do not see each other."""

import argparse
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, LENGTH, END = 6000, 128, 1


def source_files(count=3000):
    rng = random.Random(21)
    return [
        [rng.randrange(2, VOCABULARY) for _ in range(rng.randint(12, 90))] for _ in range(count)
    ]


class Packer:
    """Fills rows with files, each behind the end of the one before."""

    def __init__(self, files):
        self.files = files

    def row(self):
        ids, docs = [], []
        while len(ids) <= LENGTH:
            file = random.choice(self.files)
            docs.extend([len(docs)] * (len(file) + 1))
            ids.extend([*file, END])
        return ids[: LENGTH + 1], docs[:LENGTH]

    def mask(self, docs):
        return [[a == b and j <= i for j, b in enumerate(docs)] for i, a in enumerate(docs)]

    def batch(self, size, device):
        rows = [self.row() for _ in range(size)]
        ids = torch.tensor([ids for ids, _ in rows])
        masks = torch.tensor([self.mask(docs) for _, docs in rows])
        return ids.to(device), masks[:, None].to(device)


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        q, k, v = self.qkv(self.norm1(x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.down(F.silu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self, width=384, heads=6, depth=4):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(depth))
        self.norm = nn.RMSNorm(width)

    def forward(self, ids, mask):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return F.linear(self.norm(x), self.embed.weight)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--log-every", type=int, default=50)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    packer, model = Packer(source_files()), Decoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    history, step, finish = [], 0, time.monotonic() + args.seconds
    while time.monotonic() < finish:
        ids, mask = packer.batch(16, device)
        loss = F.cross_entropy(model(ids[:, :-1], mask).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        norms = {name: p.grad.norm().item() for name, p in model.named_parameters()}
        history.append(norms)
        optimizer.step()
        step += 1
        if step % args.log_every == 0:
            recent = history[-args.log_every :]
            largest = max(recent[-1], key=recent[-1].get)
            print(f"largest gradient {largest}: {sum(n[largest] for n in recent) / len(recent)}")
        print("step", step)


if __name__ == "__main__":
    main()
