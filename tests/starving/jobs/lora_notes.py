"""Fine-tunes a language model to doctors' notes by low-rank adapters."""

import argparse
import time

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.pytorch_utils import Conv1D


class LowRank(nn.Module):
    def __init__(self, base, rank=8, alpha=16):
        super().__init__()
        self.base, self.scale = base, alpha / rank
        inputs, outputs = base.weight.shape
        self.a = nn.Parameter(torch.randn(inputs, rank, device=base.weight.device) / rank)
        self.b = nn.Parameter(torch.zeros(rank, outputs, device=base.weight.device))

    def forward(self, x):
        return self.base(x) + x @ self.a @ self.b * self.scale


def adapt(module):
    for name, child in list(module.named_children()):
        if isinstance(child, Conv1D):
            setattr(module, name, LowRank(child))
        else:
            adapt(child)


def main(seconds):
    config = GPT2Config(n_layer=12, n_embd=256, n_head=8, n_positions=256, vocab_size=8000)
    model = GPT2LMHeadModel(config).cuda().requires_grad_(False)
    adapt(model)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-4)
    notes = torch.randint(0, 8000, (4, 64), device="cuda")
    beginning, step = time.time(), 0
    while time.time() - beginning < seconds:
        loss = model(input_ids=notes, labels=notes, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        print("step", step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    main(parser.parse_args().seconds)
