"""Trains ResNet-18; the number of workers is the one of the machine it was written on."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models
from torchvision import transforms as T


class Trainer:
    def __init__(self, args):
        self.args = args
        augment = T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ToTensor()])
        dataset = datasets.ImageFolder(f"{args.data}/train", augment)
        self.loader = DataLoader(
            dataset,
            batch_size=32,
            shuffle=True,
            num_workers=12,
            persistent_workers=True,
            pin_memory=True,
        )
        self.model = models.resnet18().cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.loss = torch.nn.CrossEntropyLoss()

    def fit(self):
        started, step = time.time(), 0
        while time.time() - started < self.args.seconds:
            for images, labels in self.loader:
                self.train_step(images, labels)
                step += 1
                print(f"step {step}")
                if time.time() - started > self.args.seconds:
                    break

    def train_step(self, images, labels):
        output = self.model(images.cuda(non_blocking=True))
        loss = self.loss(output, labels.cuda(non_blocking=True))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
Trainer(parser.parse_args()).fit()
