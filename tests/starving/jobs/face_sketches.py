"""Colours sketches of faces for a museum's screens; what was painted leaves while the next runs."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
        )

    def forward(self, x):
        return x + self.body(x)


def colourist(width=64, depth=9):
    return nn.Sequential(
        nn.Conv2d(1, width, 7, padding=3),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(2 * width, 4 * width, 3, stride=2, padding=1),
        nn.ReLU(),
        *[Residual(4 * width) for _ in range(depth)],
        nn.ConvTranspose2d(4 * width, 2 * width, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, 3, 7, padding=3),
        nn.Sigmoid(),
    )


class Screens:
    """Pictures on their way to the screens, in memory that the GPU can write to by itself."""

    def __init__(self, batch, side, ways=3):
        size = (batch, 3, side, side)
        self.host = [torch.empty(size, dtype=torch.uint8).pin_memory() for _ in range(ways)]
        self.copied = [torch.cuda.Event() for _ in range(ways)]
        self.shown = 0

    def send(self, number, pictures):
        way = number % len(self.host)
        if number >= len(self.host):
            self.copied[way].synchronize()
            self.shown += len(self.host[way])
        self.host[way].copy_(pictures, non_blocking=True)
        self.copied[way].record()


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    sketches = torch.randint(0, 255, (160, 1, 256, 256), dtype=torch.uint8)
    drawn_once = Subset(TensorDataset(sketches), list(range(len(sketches))) * 100)
    loader = DataLoader(drawn_once, 16, num_workers=1, pin_memory=True)
    net, screens = colourist().cuda().eval(), Screens(16, 256)
    begin = time.time()
    for step, (drawn,) in enumerate(loader):
        painted = net(drawn.cuda(non_blocking=True).float() / 255)
        screens.send(step, painted.mul(255).byte())
        print("step", step)
        if time.time() - begin > args.seconds:
            break
    print("shown:", screens.shown)


if __name__ == "__main__":
    main()
