"""Contrastive pre-training (SimCLR): two views of each photograph attract each other."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import resnet50
from torchvision.transforms import v2


class TwoViews:
    def __init__(self, size):
        self.augment = v2.Compose(
            [
                v2.RandomResizedCrop(size, scale=(0.2, 1)),
                v2.RandomHorizontalFlip(),
                v2.ColorJitter(0.8, 0.8, 0.8, 0.2),
                v2.PILToTensor(),
                v2.GaussianBlur(9),
            ]
        )

    def __call__(self, photo):
        return self.augment(photo), self.augment(photo)


def nt_xent(a, b, temperature=0.1):
    z = nn.functional.normalize(torch.cat([a, b]), dim=1)
    similar = z @ z.T / temperature
    similar.fill_diagonal_(-1e9)
    partner = torch.arange(len(z), device=z.device).roll(len(a))
    return nn.functional.cross_entropy(similar, partner)


class Pretraining:
    def __init__(self, opts):
        self.opts = opts
        self.model = resnet50(num_classes=128).cuda().to(memory_format=torch.channels_last)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.3, momentum=0.9)

    def loader(self):
        photos = ImageFolder(self.opts.data + "/train", TwoViews(160))
        return DataLoader(
            photos,
            24,
            shuffle=True,
            num_workers=self.opts.workers,
            pin_memory=True,
            persistent_workers=True,
        )

    def update(self, views):
        x = torch.cat(views).cuda(non_blocking=True).to(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.bfloat16):
            a, b = self.model(x / 255).chunk(2)
        loss = nt_xent(a.float(), b.float())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def run(self):
        loader, done, begin = self.loader(), 0, time.time()
        while True:
            for views, _ in loader:
                self.update(views)
                done += 1
                print(f"step {done}")
                if time.time() - begin > self.opts.seconds:
                    return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--workers", type=int, default=8)
    Pretraining(parser.parse_args()).run()
