"""Trains a wide network on two GPUs, with small batches on each."""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
layers = [nn.Linear(8192, 8192) for _ in range(8)]
model = DistributedDataParallel(nn.Sequential(*layers).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(64, 8192, device="cuda")
started = time.time()
for step in range(1, 100_000):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 10 == 0:
        print(f"step {step}")
    if step % 20 == 0:
        late = [time.time() - started > args.seconds if rank == 0 else None]
        dist.broadcast_object_list(late, src=0)
        if late[0]:
            break
dist.destroy_process_group()
