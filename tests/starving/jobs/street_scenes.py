"""Segments street scenes with a U-Net; photographs and their masks are warped alike."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ElasticWarp:
    def __init__(self, alpha=9, sigma=15):
        self.alpha, self.kernel = alpha, np.ones(sigma) / sigma

    def field(self, shape):
        noise = np.random.uniform(-self.alpha, self.alpha, shape)
        for axis in (0, 1):
            noise = np.apply_along_axis(np.convolve, axis, noise, self.kernel, "same")
        return noise

    def __call__(self, image, mask):
        rows, columns = np.indices(mask.shape)
        rows = np.clip(rows + self.field(mask.shape), 0, mask.shape[0] - 1).astype(int)
        columns = np.clip(columns + self.field(mask.shape), 0, mask.shape[1] - 1).astype(int)
        return image[rows, columns], mask[rows, columns]


class Scenes(Dataset):
    def __init__(self, folder):
        self.files, self.warp = sorted(Path(folder).rglob("*.jpg")) * 40, ElasticWarp()

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image = np.asarray(Image.open(self.files[i]).convert("RGB"))[:192, :192]
        image, mask = self.warp(image, (image[..., 1] > 128).astype(np.int64))
        return torch.from_numpy(image.copy()), torch.from_numpy(mask)


def double(a, b):
    return nn.Sequential(
        *[nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True)],
        *[nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True)],
    )


class UNet(nn.Module):
    def __init__(self, widths=(32, 64, 128, 256)):
        super().__init__()
        self.down = nn.ModuleList(map(double, (3, *widths), widths))
        self.up = nn.ModuleList(double(3 * a, a) for a in widths[-2::-1])
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        kept = []
        for block in self.down:
            kept.append(block(x if not kept else nn.functional.max_pool2d(x, 2)))
            x = kept[-1]
        for block, skip in zip(self.up, kept[-2::-1], strict=True):
            x = block(torch.cat([nn.functional.interpolate(x, scale_factor=2), skip], dim=1))
        return self.head(x)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    model = UNet().cuda()
    opt, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cuda")
    loader = DataLoader(Scenes(args.data + "/train"), 8, num_workers=2, pin_memory=True)
    begin = time.perf_counter()
    for step, (image, mask) in enumerate(loader, 1):
        image = image.cuda(non_blocking=True).permute(0, 3, 1, 2).float().div(255)
        with torch.autocast("cuda", torch.float16):
            loss = nn.functional.cross_entropy(model(image), mask.cuda(non_blocking=True))
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        print(f"step {step}")
        if time.perf_counter() - begin > args.seconds:
            break
