"""Marks cracks in pictures of roads, pixel by pixel, with a small U-Net."""

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES, CROP = 6, 192


def survey(folder, count=30):
    if not folder.exists():
        folder.mkdir(parents=True)
        draw = np.random.default_rng(1)
        for i in range(count):
            road = draw.normal(110, 18, (240, 320, 3)).clip(0, 255).astype(np.uint8)
            mask = np.zeros((240, 320), np.uint8)
            for _ in range(12):
                points = draw.integers(0, 320, (6, 1, 2)).astype(np.int32)
                cv2.polylines(road, [points], False, (40, 40, 40), 3)
                cv2.polylines(mask, [points], False, int(draw.integers(1, CLASSES)), 5)
            cv2.imwrite(str(folder / f"{i}_road.png"), road)
            cv2.imwrite(str(folder / f"{i}_mask.png"), mask)
    return sorted(str(file) for file in folder.glob("*_road.png"))


class CrackDataset(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return 400 * len(self.files)

    def read(self, i):
        image = cv2.imread(self.files[i])
        return image, cv2.imread(self.files[i].replace("_road", "_mask"), cv2.IMREAD_GRAYSCALE)

    def __getitem__(self, i):
        image, mask = self.read(i % len(self.files))
        top, left = np.random.randint(0, (240 - CROP, 320 - CROP))
        image = image[top : top + CROP, left : left + CROP, ::-1]
        image = torch.from_numpy(image.copy()).permute(2, 0, 1)
        return image, mask[top : top + CROP, left : left + CROP]


def block(inputs, outputs):
    conv = nn.Conv2d(inputs, outputs, 3, padding=1)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, a=64, b=128, c=256):
        super().__init__()
        self.enter, self.down1, self.down2 = block(3, a), block(a, b), block(b, c)
        self.up1, self.up2, self.head = block(b + c, b), block(a + b, a), nn.Conv2d(a, CLASSES, 1)

    def forward(self, x):
        fine = self.enter(x)
        middle = self.down1(nn.functional.max_pool2d(fine, 2))
        x = self.down2(nn.functional.max_pool2d(middle, 2))
        x = self.up1(torch.cat((nn.functional.interpolate(x, scale_factor=2), middle), 1))
        x = self.up2(torch.cat((nn.functional.interpolate(x, scale_factor=2), fine), 1))
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    files = survey(args.data / "road_cracks")
    loader = DataLoader(CrackDataset(files), batch_size=8, shuffle=True, pin_memory=True)
    model = UNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    inter, union, end = [0.0] * CLASSES, [1.0] * CLASSES, time.time() + args.seconds
    for step, (images, masks) in enumerate(loader, 1):
        masks = masks.to(device, non_blocking=True).long()
        logits = model(images.to(device, non_blocking=True).float() / 255)
        loss = nn.functional.cross_entropy(logits, masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pred = logits.detach().argmax(1)
        for c in range(CLASSES):
            inter[c] += ((pred == c) & (masks == c)).sum().item()
            union[c] += ((pred == c) | (masks == c)).sum().item()
        if step % 50 == 0:
            print("iou", [round(float(i / u), 3) for i, u in zip(inter, union, strict=True)])
        print("step", step)
        if time.time() > end:
            break


main()
