"""Searches vectors that lie in page-locked memory for the nearest of many queries."""

import argparse
import time

import torch


class Index:
    def __init__(self, chunks, rows, dim):
        self.chunks = [torch.rand(rows, dim).half().pin_memory() for _ in range(chunks)]

    def search(self, queries, k):
        best = torch.full((len(queries), k), -1e4, dtype=queries.dtype, device=queries.device)
        for chunk in self.chunks:
            chunk = chunk.to(queries.device, non_blocking=True)
            scores = queries @ chunk.T
            best = torch.cat([best, scores.topk(k).values], dim=1).topk(k).values
        return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    index = Index(chunks=4, rows=65_536, dim=1024)
    queries = torch.rand(64, 1024).half().cuda()
    started = time.time()
    step = 0
    while time.time() - started < args.seconds:
        index.search(queries, k=10)
        step += 1
        if step % 4 == 0:
            print(f"step {step}")


main()
