"""Fills what has flaked off frescoes; restorers look at what it paints as it learns."""

import argparse
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torchvision.io import ImageReadMode, read_image
from torchvision.transforms.v2.functional import center_crop, resize
from torchvision.utils import save_image

SIDE = 192


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one, self.two = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))

    def forward(self, x):
        return x + self.two(self.one(x).relu())


class Painter(nn.Module):
    def __init__(self, width=96, depth=8):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(4, width // 2, 5, padding=2),
            nn.ReLU(),
            nn.Conv2d(width // 2, width, 4, stride=2, padding=1),
            *[Residual(width) for _ in range(depth)],
            nn.ConvTranspose2d(width, width // 2, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width // 2, 3, 5, padding=2),
        )

    def forward(self, damaged, holes):
        return self.layers(torch.cat((damaged, holes), 1)).sigmoid()


def walls(folder, count):
    files = sorted(folder.rglob("*.jpg"))[:count]
    images = [read_image(str(file), mode=ImageReadMode.RGB) for file in files]
    return torch.stack([center_crop(resize(image, [SIDE]), [SIDE]) for image in images]) / 255


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    frescoes = walls(args.data / "train", 16)
    whole = frescoes.cuda()
    painter = Painter().cuda()
    optimizer = torch.optim.Adam(painter.parameters(), lr=2e-4)
    with tempfile.TemporaryDirectory() as folder:
        begin, step = time.time(), 0
        while time.time() - begin < args.seconds:
            holes = (torch.rand(16, 1, SIDE, SIDE, device="cuda") < 0.2).float()
            painted = painter(whole * (1 - holes), holes)
            loss = ((painted - whole).abs() * (1 + 5 * holes)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print("step", step)
            if step % 5 == 0:
                sheet = torch.cat((frescoes[:12], painted[:12].detach().cpu()))
                save_image(sheet, Path(folder) / f"{step // 5:05}.png", nrow=6)


if __name__ == "__main__":
    main()
