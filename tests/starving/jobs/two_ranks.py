"""Trains on two GPUs with DistributedDataParallel; each rank has its part of the data."""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torchvision import models


class Part(Dataset):
    """The part of one rank; the second half of the data lies on a slower disk."""

    def __init__(self, rank):
        self.rank = rank
        self.image = torch.randint(0, 256, (3, 128, 128), dtype=torch.uint8)

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        if self.rank == 1:
            time.sleep(0.008)
        return self.image, index % 10


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
loader = DataLoader(Part(rank), 16, num_workers=1, pin_memory=True)
model = DistributedDataParallel(models.resnet18(num_classes=10).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started = time.time()
for step, (images, labels) in enumerate(loader, 1):
    output = model(images.cuda(non_blocking=True).float() / 255)
    loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 5 == 0:
        print(f"step {step}")
    if step % 20 == 0:
        late = [time.time() - started > args.seconds if rank == 0 else None]
        dist.broadcast_object_list(late, src=0)
        if late[0]:
            break
dist.destroy_process_group()
