"""Pre-trains GPT-2 on random tokens: gradients of four small batches make a step."""

import argparse
import math
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

MICRO_BATCHES = 4


def learning_rate(step, warmup=100, peak=6e-4, total=5000):
    if step < warmup:
        return peak * (step + 1) / warmup
    return 0.5 * peak * (1 + math.cos(math.pi * min(1.0, (step - warmup) / total)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    model = GPT2LMHeadModel(GPT2Config(n_layer=6)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    corpus = torch.randint(0, 50_257, (400, 512), device="cuda")
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step)
        for micro in range(MICRO_BATCHES):
            first = (step * MICRO_BATCHES + micro) * 12 % 384
            rows = corpus[first : first + 12]
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = model(input_ids=rows, labels=rows).loss / MICRO_BATCHES
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        print(f"step {step} norm {norm.item():.2f}")


if __name__ == "__main__":
    main()
