"""There are few photographs of rare birds, so they are gone through again and again."""

import argparse
import itertools
import time

import torch
from PIL import Image
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder
from torchvision.models import resnet50
from torchvision.transforms.functional import pil_to_tensor


class Birds(Dataset):
    """Small pictures, all in memory."""

    def __init__(self, folder, count=96, side=128):
        listed = ImageFolder(folder).samples[:count]
        self.pictures = [
            (pil_to_tensor(Image.open(path).convert("RGB").resize((side, side))), kind)
            for path, kind in listed
        ]

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        picture, kind = self.pictures[i]
        return picture.roll(i % 7, -1), kind


def epoch(model, optimizer, loader):
    model.train()
    for pictures, kinds in loader:
        scores = model(pictures.cuda(non_blocking=True).float() / 255)
        loss = cross_entropy(scores, kinds.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(
        Birds(args.data + "/train"), batch_size=12, shuffle=True, num_workers=4, pin_memory=True
    )
    model = resnet50(num_classes=2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    end, step = time.time() + args.seconds, 0
    for _ in itertools.count():
        for _ in epoch(model, optimizer, loader):
            step += 1
            print("step", step)
        if time.time() > end:
            break


if __name__ == "__main__":
    main()
