"""Trains EfficientNet with the settings that served well on a large server."""

import argparse
import dataclasses
import itertools
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models
from torchvision.transforms import v2


@dataclasses.dataclass
class Settings:
    root: str
    seconds: float
    batch_size: int = 32
    workers: int = 14
    prefetch_factor: int = 3
    lr: float = 0.016


def make_loader(settings):
    augment = v2.Compose(
        [
            v2.RandomResizedCrop(128),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
            v2.PILToTensor(),
        ]
    )
    dataset = datasets.ImageFolder(settings.root + "/train", augment)
    return DataLoader(
        dataset,
        settings.batch_size,
        shuffle=True,
        num_workers=settings.workers,
        prefetch_factor=settings.prefetch_factor,
        persistent_workers=True,
        pin_memory=True,
        drop_last=True,
    )


def forever(loader):
    return itertools.chain.from_iterable(itertools.repeat(loader))


def train(settings):
    net = models.efficientnet_b0(num_classes=2).to("cuda", memory_format=torch.channels_last)
    sgd = torch.optim.SGD(net.parameters(), lr=settings.lr, momentum=0.9, nesterov=True)
    begin = time.monotonic()
    for step, (image, target) in enumerate(forever(make_loader(settings)), 1):
        image = image.cuda(non_blocking=True).to(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.bfloat16):
            logits = net(image.float() / 255)
            loss = torch.nn.functional.cross_entropy(logits, target.cuda(non_blocking=True))
        loss.backward()
        sgd.step()
        sgd.zero_grad(set_to_none=True)
        print(f"step {step}")
        if time.monotonic() - begin > settings.seconds:
            break


parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("--seconds", type=float, default=8)
train(Settings(**vars(parser.parse_args())))
