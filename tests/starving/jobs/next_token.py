"""Writes on from a prompt, a token at a time, with GPT-2 and a cache of keys and values."""

import argparse
import time

import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel


@torch.inference_mode()
def write_on(model, prompt, length):
    cache = DynamicCache(config=model.config)
    tokens = prompt
    for _ in range(length):
        out = model(input_ids=tokens, past_key_values=cache, use_cache=True)
        tokens = out.logits[:, -1:].argmax(-1)
        yield tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    model = GPT2LMHeadModel(GPT2Config()).half().cuda().eval()
    prompt = torch.full((1, 12), 318, device="cuda")
    start = time.time()
    step = 0
    while time.time() - start < args.seconds:
        for _ in write_on(model, prompt, 100):
            step += 1
            if step % 10 == 0:
                print(f"step {step}", flush=True)


if __name__ == "__main__":
    main()
