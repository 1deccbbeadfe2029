"""Distributed training by hand: gradients are averaged when the backward pass has ended."""

import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn


class Perceiver(nn.Module):
    def __init__(self, width=2048, depth=6):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                          nn.Linear(4 * width, width))
            for _ in range(depth)
        )  # fmt: skip

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x


def average_gradients(model):
    size = float(dist.get_world_size())
    for param in model.parameters():
        dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
        param.grad.data /= size


def run(rank, seconds):
    torch.manual_seed(1234)
    model = Perceiver().to(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(256, 2048, device=rank)
    late = [False]
    start, step = time.time(), 0
    while not late[0]:
        for _ in range(20):
            optimizer.zero_grad()
            (model(x) - x).abs().mean().backward()
            average_gradients(model)
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"step {step}")
        late = [time.time() - start > seconds]
        dist.broadcast_object_list(late, src=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group(backend="nccl")
    run(local_rank, options.seconds)
    dist.destroy_process_group()
