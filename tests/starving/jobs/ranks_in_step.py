"""Trains a RegNet on two GPUs; the gradients travel while others are computed."""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from torchvision.models import regnet_y_8gf


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    rank, device = dist.get_rank(), torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    data = TensorDataset(
        torch.randint(0, 256, (512, 3, 176, 176), dtype=torch.uint8).repeat(6, 1, 1, 1),
        torch.zeros(3072, dtype=torch.long),
    )
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 64, sampler=sampler, pin_memory=True, num_workers=1)
    model = DDP(regnet_y_8gf(num_classes=10).to(device), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    start = time.time()
    for step, (x, y) in enumerate(loader, 1):
        x = x.to(device, non_blocking=True).float() / 255
        loss = torch.nn.functional.cross_entropy(model(x), y.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"step {step}")
        if step % 10 == 0:
            over = [time.time() - start > args.seconds]
            dist.broadcast_object_list(over)
            if over[0]:
                break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
