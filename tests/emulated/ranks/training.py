"""DistributedDataParallel as the tutorial has it: run by torchrun, or by itself with mp.spawn."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def wrapped(kind: str, rank: int) -> nn.Module:
    if kind == "fsdp":
        from torch.distributed.fsdp import FullyShardedDataParallel

        return FullyShardedDataParallel(model().to(rank))
    if kind == "fsdp2":
        from torch.distributed.fsdp import fully_shard

        sharded = model().to(rank)
        fully_shard(sharded)
        return sharded
    return DistributedDataParallel(model().to(rank), device_ids=[rank])


def train(rank: int, world: int, kind: str) -> None:
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    net = wrapped(kind, rank)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,)))
    sampler = DistributedSampler(data, num_replicas=world, rank=rank)
    loader = DataLoader(data, batch_size=8, sampler=sampler, pin_memory=True)
    steps = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            outputs = net(images.to(rank, non_blocking=True))
            loss = nn.functional.cross_entropy(outputs, labels.to(rank, non_blocking=True))
            loss.backward()
            optimizer.step()
            steps += 1
        loss = loss.detach()
        dist.all_reduce(loss)
        print(f"rank{rank} epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.barrier()
    print(f"rank{rank} steps {steps}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "ddp"
    if "RANK" in os.environ:
        train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), chosen)
    else:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29511")
        mp.spawn(train, args=(2, chosen), nprocs=2)
