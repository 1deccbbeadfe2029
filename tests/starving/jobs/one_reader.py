"""Trains on records behind a reader that allows one access at a time."""

import argparse
import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models


class Records(Dataset):
    def __init__(self, count):
        self.count = count
        self.lock = multiprocessing.Lock()
        self.record = torch.randint(0, 256, (3, 128, 128), dtype=torch.uint8)

    def __len__(self):
        return self.count

    def read(self, index):
        with self.lock:
            time.sleep(0.004)
            return self.record

    def __getitem__(self, index):
        return self.read(index), index % 10


def train(args):
    loader = DataLoader(Records(50_000), 32, num_workers=4, pin_memory=True)
    model = models.resnet50(num_classes=10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = torch.nn.CrossEntropyLoss()
    started = time.time()
    for step, (images, labels) in enumerate(loader, 1):
        output = model(images.cuda(non_blocking=True).float().div_(255))
        loss = criterion(output, labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.time() - started > args.seconds:
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    train(parser.parse_args())
