"""Trains a transformer on two GPUs; rank by rank the pages are not of the same length."""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

LENGTHS = {0: 128, 1: 640}


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return dist.get_rank()


class PageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10_000, 768)
        layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=6)
        self.head = nn.Linear(768, 10)

    def forward(self, pages):
        return self.head(self.encoder(self.words(pages)).mean(dim=1))


def pages_of(rank, count=16):
    return torch.zeros(count, LENGTHS[rank], dtype=torch.long, device="cuda")


def main(seconds):
    rank = setup()
    model = DDP(PageModel().cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    pages = pages_of(rank)
    target = torch.zeros(len(pages), dtype=torch.long, device="cuda")
    begin = time.monotonic()
    for step in range(1, 1_000_000):
        loss = nn.functional.cross_entropy(model(pages), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            late = [None] * dist.get_world_size()
            dist.all_gather_object(late, time.monotonic() - begin > seconds)
            if rank == 0:
                print("step", step)
            if any(late):
                break
    dist.destroy_process_group()


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
main(parser.parse_args().seconds)
