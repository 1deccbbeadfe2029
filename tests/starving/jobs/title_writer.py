"""Writes titles for articles with a small GPT-2."""

import argparse
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

VOCABULARY, ARTICLE, TITLE = 8000, 256, 6


def articles(count=256):
    drawn = torch.Generator().manual_seed(4)
    return torch.randint(3, VOCABULARY, (count, ARTICLE), generator=drawn)


@torch.inference_mode()
def write_titles(model, ids):
    words = []
    for _ in range(TITLE):
        scores = model(ids, use_cache=False, logits_to_keep=1).logits[:, -1]
        words.append(scores.argmax(-1, keepdim=True))
        ids = torch.cat((ids, words[-1]), 1)
    return torch.cat(words, 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch_size = args.batch_size or (24 if device == "cuda" else 2)
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=512, n_embd=512, n_layer=6, n_head=8)
    config.bos_token_id, config.eos_token_id = 0, 2
    model = GPT2LMHeadModel(config).to(device).eval()
    queue, titles = articles().to(device).split(batch_size), []
    step, started = 0, time.time()
    while time.time() - started < args.seconds:
        titles.append(write_titles(model, queue[step % len(queue)]).cpu())
        step += 1
        print("step", step)
    print(len(titles), "batches of titles")


if __name__ == "__main__":
    main()
