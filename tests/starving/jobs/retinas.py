"""Grades photographs of retinas with Lightning; their contrast is evened out first."""

import argparse
from datetime import timedelta
from pathlib import Path

import lightning as L
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet50
from torchvision.transforms import v2


class LocalContrast:
    """Each pixel's rank among those of its tile, blended between four tiles (CLAHE)."""

    def __init__(self, tiles=8, limit=4.0):
        self.tiles, self.limit = tiles, limit

    def tables(self, channel, size):
        tables = np.empty((self.tiles, self.tiles, 256), np.float32)
        for row in range(self.tiles):
            for column in range(self.tiles):
                tile = channel[row * size :, column * size :][:size, :size]
                counts = np.bincount(tile.ravel(), minlength=256)
                counts = np.minimum(counts, self.limit * tile.size / 256)
                tables[row, column] = counts.cumsum() / counts.sum() * 255
        return tables

    def __call__(self, image):
        pixels = np.asarray(image)
        size = len(pixels) // self.tiles
        place = np.clip((np.arange(len(pixels)) + 0.5) / size - 0.5, 0, self.tiles - 1.001)
        at, part = place.astype(int), (place % 1).astype(np.float32)
        down, across = part[:, None], part[None, :]
        down, across, row = part[:, None], part[None, :], at[:, None]
        even = np.empty(pixels.shape, np.uint8)
        for c in range(pixels.shape[2]):
            grey = pixels[:, :, c]
            table = self.tables(grey, size)
            top = table[row, at, grey] * (1 - across) + table[row, at + 1, grey] * across
            low = table[row + 1, at, grey] * (1 - across) + table[row + 1, at + 1, grey] * across
            even[:, :, c] = top * (1 - down) + low * down
        return Image.fromarray(even)


class Retinas(Dataset):
    def __init__(self, folder, transform, count=64):
        files = sorted(Path(folder).glob("*/*.jpg"))[:count]
        self.images = [Image.open(f).convert("RGB").resize((224, 224)) for f in files]
        self.transform = transform

    def __len__(self):
        return 30_000

    def __getitem__(self, i):
        return self.transform(self.images[i % len(self.images)]), i % 5


class Grader(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = resnet50(num_classes=5)

    def training_step(self, batch, index):
        images, grades = batch
        return torch.nn.functional.cross_entropy(self.net(images.float() / 255), grades)

    def on_train_batch_end(self, *_):
        print("step", self.global_step)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    steps = [LocalContrast(), v2.RandomHorizontalFlip(), v2.PILToTensor()]
    retinas = Retinas(args.data + "/train", v2.Compose(steps))
    trainer = L.Trainer(
        accelerator="gpu",
        max_time=timedelta(seconds=args.seconds),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(Grader(), DataLoader(retinas, 16, True, num_workers=2, pin_memory=True))
