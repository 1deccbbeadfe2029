"""Trains a GPT on the letters of two centuries, from a file of tokens."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

BLOCK = 256


def tokens(file, count=4_000_000, vocabulary=8192):
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        drawn = np.random.default_rng(1750).zipf(1.3, count) % vocabulary
        drawn.astype(np.uint16).tofile(file)
    return np.memmap(file, np.uint16, "r")


class Batches:
    """The next batch is on its way while one is learnt from."""

    def __init__(self, ids, size, device):
        self.ids, self.size, self.device = ids, size, device
        self.ready = self.draw()

    def draw(self):
        starts = np.random.randint(0, len(self.ids) - BLOCK, self.size)
        rows = self.ids[starts[:, None] + np.arange(BLOCK)].astype(np.int64)
        rows = torch.from_numpy(rows)
        if self.device == "cpu":
            return rows
        return rows.pin_memory().to(self.device, non_blocking=True)

    def __call__(self):
        batch, self.ready = self.ready, self.draw()
        return batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    config = GPT2Config(vocab_size=8192, n_positions=BLOCK, n_embd=512, n_layer=4, n_head=8)
    config.attn_pdrop = config.resid_pdrop = config.embd_pdrop = 0.0
    model = GPT2LMHeadModel(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    batches = Batches(tokens(args.data / "old_letters.bin"), 64 if device == "cuda" else 4, device)
    started, step = time.time(), 0
    while time.time() - started < args.seconds:
        ids = batches()
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 100 == 0:
            print(f"loss {loss.item():.3f}")
        print(f"step {step}")


if __name__ == "__main__":
    main()
