"""CLIP on two GPUs: each rank compares its pictures with the captions of both."""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy, normalize


class Tower(nn.Module):
    def __init__(self, inputs, outputs=1024, width=3072, depth=6):
        super().__init__()
        sizes = [inputs, *[width] * depth]
        layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        self.body = nn.Sequential(*layers, nn.Linear(width, outputs))

    def forward(self, x):
        return normalize(self.body(x), dim=1)


def everybodys(mine):
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, mine.detach().contiguous())
    parts[dist.get_rank()] = mine
    return torch.cat(parts)


def average(parameters):
    gradients = [p.grad for p in parameters]
    flat = torch.cat([g.flatten() for g in gradients])
    dist.all_reduce(flat)
    place = 0
    for g in gradients:
        g.copy_(flat[place : place + g.numel()].view_as(g).div_(dist.get_world_size()))
        place += g.numel()


def main(seconds):
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    towers = nn.ModuleList([Tower(2048), Tower(768)]).to(device)
    optimizer = torch.optim.SGD(towers.parameters(), lr=0.01)
    pictures, captions = torch.randn(256, 2048, device=device), torch.randn(256, 768, device=device)
    own = torch.arange(256, device=device) + 256 * dist.get_rank()
    begin, step = time.time(), 0
    over = [False]
    while not over[0]:
        seen, read = towers[0](pictures), towers[1](captions)
        loss = cross_entropy(seen @ everybodys(read).T * 20, own)
        loss = loss + cross_entropy(read @ everybodys(seen).T * 20, own)
        optimizer.zero_grad()
        loss.backward()
        average(list(towers.parameters()))
        optimizer.step()
        step += 1
        if step % 10 == 0:
            if dist.get_rank() == 0:
                print("step", step)
            over = [time.time() - begin > seconds]
            dist.broadcast_object_list(over)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    main(parser.parse_args().seconds)
