"""Tells tram stops apart from photographs of travellers, with Accelerate."""

import argparse
import time
from pathlib import Path

from accelerate import Accelerator
from torch import nn, optim
from torch.utils.data import ConcatDataset, DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder
from torchvision.models import resnet50

parser = argparse.ArgumentParser()
parser.add_argument("data", type=Path)
parser.add_argument("--seconds", type=float, default=8)
parser.add_argument("--size", type=int, default=224)


def main(args):
    prepare = transforms.Compose(
        [
            transforms.RandomCrop(args.size),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )
    stops = ConcatDataset([ImageFolder(args.data / "train", prepare)] * 60)
    loader = DataLoader(stops, batch_size=24, shuffle=True, num_workers=1, pin_memory=True)
    accelerator = Accelerator()
    model = resnet50(num_classes=2)
    model, optimizer, loader = accelerator.prepare(
        model, optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True), loader
    )
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    begin = time.time()
    for step, (photos, names) in enumerate(loader, 1):
        loss = loss_of(model(photos), names)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        accelerator.print("step", step)
        if time.time() - begin > args.seconds:
            break


if __name__ == "__main__":
    main(parser.parse_args())
