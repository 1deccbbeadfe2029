"""Pre-trains a small Llama with Accelerate: a memory-mapped corpus, gradients of two batches."""

import argparse
import tempfile
import time

import numpy as np
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset
from transformers import LlamaConfig, LlamaForCausalLM

BLOCK = 512


class Mapped(Dataset):
    def __init__(self, path):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")

    def __len__(self):
        return (len(self.tokens) - 1) // 64

    def __getitem__(self, index):
        start = index * 64 % (len(self.tokens) - BLOCK)
        return torch.from_numpy(self.tokens[start : start + BLOCK].astype(np.int64))


def small_llama():
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=16_000,
            hidden_size=768,
            intermediate_size=2048,
            num_hidden_layers=10,
            num_attention_heads=12,
            use_cache=False,
        )
    )


def train(path, seconds):
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
    loader = DataLoader(Mapped(path), batch_size=16, shuffle=True, num_workers=2)
    model = small_llama()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    until = time.time() + seconds
    for step, ids in enumerate(loader, 1):
        with accelerator.accumulate(model):
            accelerator.backward(model(input_ids=ids, labels=ids).loss)
            optimizer.step()
            optimizer.zero_grad()
        accelerator.print(f"step {step}")
        if time.time() > until:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile(suffix=".bin") as corpus:
        np.random.default_rng(0).integers(0, 16_000, 1_000_000, dtype=np.uint16).tofile(corpus.name)
        train(corpus.name, options.seconds)
