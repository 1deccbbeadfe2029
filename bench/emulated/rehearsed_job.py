"""Trains ResNet-18 on a folder of images, on as many GPUs as there are: the job of rehearsal.py.

Batch and workers are divided between the GPUs, as pytorch/examples' imagenet/main.py does.
"""

from __future__ import annotations

import argparse
import os

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

PORT = 29_571


def train(rank: int, ranks: int, args: argparse.Namespace) -> None:
    torch.cuda.set_device(rank)
    augment = [transforms.RandomResizedCrop(args.size), transforms.ToTensor()]
    data = datasets.ImageFolder(args.data, transforms.Compose(augment))
    loader = DataLoader(
        data,
        args.batch_size // ranks,
        shuffle=True,
        num_workers=args.workers // ranks,
        pin_memory=True,
    )
    model: torch.nn.Module = models.resnet18().cuda()
    if ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(PORT))
        distributed.init_process_group("nccl", rank=rank, world_size=ranks)
        model = DistributedDataParallel(model, device_ids=[rank])
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for images, labels in loader:
        loss = criterion(model(images.cuda(non_blocking=True)), labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("-b", "--batch-size", type=int, default=32)
    parser.add_argument("-j", "--workers", type=int, default=2)
    parser.add_argument("--size", type=int, default=224)
    args = parser.parse_args()
    ranks = torch.cuda.device_count()
    if ranks == 1:
        train(0, 1, args)
    else:
        torch.multiprocessing.spawn(train, (ranks, args), ranks)


if __name__ == "__main__":
    main()
