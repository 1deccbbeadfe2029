"""Guesses hidden letters of proteins; trained with Lion, which is a few lines."""

import argparse
import time

import torch
from torch import nn

LETTERS, HIDDEN = 25, 24


class Lion:
    def __init__(self, parameters, lr=1e-4, betas=(0.9, 0.99), decay=0.01):
        self.parameters, self.lr, self.betas, self.decay = list(parameters), lr, betas, decay
        self.moments = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        for p, m in zip(self.parameters, self.moments, strict=True):
            p.grad.clamp_(-1.0, 1.0)
            update = m.mul(self.betas[0]).add(p.grad, alpha=1 - self.betas[0]).sign_()
            p.mul_(1 - self.lr * self.decay).add_(update, alpha=-self.lr)
            m.mul_(self.betas[1]).add_(p.grad, alpha=1 - self.betas[1])
            p.grad = None


class Proteins(nn.Module):
    def __init__(self, width=640, depth=8):
        super().__init__()
        self.embed = nn.Embedding(LETTERS, width)
        layer = nn.TransformerEncoderLayer(
            width, 10, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.letters = nn.Linear(width, LETTERS)

    def forward(self, ids):
        return self.body(self.embed(ids))


def hide(ids, share=0.15):
    chosen = torch.rand(ids.shape, device=ids.device) < share
    return ids.masked_fill(chosen, HIDDEN), chosen


def train(seconds):
    torch.set_float32_matmul_precision("high")
    model = Proteins().cuda()
    lion = Lion(model.parameters())
    proteins = torch.randint(0, 20, (8, 16, 256), device="cuda")
    begin, step = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        ids = proteins[step % 8]
        seen, chosen = hide(ids)
        guessed = model.letters(model(seen))
        loss = nn.functional.cross_entropy(guessed.flatten(0, 1), ids.flatten())
        loss.backward()
        if loss.detach() > 50:
            raise RuntimeError(f"diverged at step {step}")
        lion.step()
        step += 1
        if step % 4 == 0:
            print(f"step {step}, {chosen.shape[0]} proteins")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    train(parser.parse_args().seconds)
