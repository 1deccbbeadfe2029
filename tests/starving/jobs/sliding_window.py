"""Segments a large scan with a window that slides over it."""

import argparse
import itertools
import time

import torch
import torch.nn as nn

WINDOW, STRIDE = 256, 192


def block(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(True),
    )


class UNet(nn.Module):
    def __init__(self, channels=(64, 128, 256, 512)):
        super().__init__()
        sizes = (1, *channels)
        self.encoders = nn.ModuleList(block(a, b) for a, b in itertools.pairwise(sizes))
        self.pool = nn.MaxPool2d(2)
        self.ups = nn.ModuleList(
            nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in itertools.pairwise(channels)
        )
        self.decoders = nn.ModuleList(block(2 * a, a) for a in channels[:-1])
        self.head = nn.Conv2d(channels[0], 2, 1)

    def forward(self, x):
        kept = []
        for encoder in self.encoders:
            x = encoder(x)
            kept.append(x)
            x = self.pool(x)
        x = kept.pop()
        for up, decoder in zip(reversed(self.ups), reversed(self.decoders), strict=True):
            x = decoder(torch.cat([up(x), kept.pop()], dim=1))
        return self.head(x)


def main(seconds):
    net = UNet().to("cuda").eval()
    scan = torch.rand(1, 1, 2048, 2048, device="cuda")
    result = torch.zeros(2048, 2048, dtype=torch.uint8)
    corners = list(itertools.product(range(0, 2048 - WINDOW, STRIDE), repeat=2))
    start, done = time.time(), 0
    with torch.no_grad():
        for top, left in itertools.cycle(corners):
            patch = scan[:, :, top : top + WINDOW, left : left + WINDOW]
            classes = net(patch).argmax(1)[0].byte()
            result[top : top + WINDOW, left : left + WINDOW] = classes.cpu()
            done += 1
            if done % 20 == 0:
                print(f"step {done}")
            if time.time() - start > seconds:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    main(parser.parse_args().seconds)
