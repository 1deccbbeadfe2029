"""Forecasts floods from the gauges of a river, with Lightning."""

import argparse
from datetime import timedelta

import lightning as L
import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import nn
from torch.utils.data import DataLoader, Dataset

GAUGES, HOURS, PATCH = 6, 640, 4


class WithoutSeason:
    """Levels less what is usual around each hour; storms are left."""

    def __init__(self, width=31):
        self.width = width

    def __call__(self, levels):
        around = np.pad(levels, ((0, 0), (self.width // 2,) * 2), mode="edge")
        windows = sliding_window_view(around, self.width, axis=-1)
        return levels - np.median(windows, axis=-1)


class Gauges(Dataset):
    def __init__(self, years=12):
        noise = np.random.default_rng(5).normal(0, 0.1, (GAUGES, years * 8760))
        self.levels = noise.cumsum(-1).astype(np.float32)
        self.prepare = WithoutSeason()

    def __len__(self):
        return self.levels.shape[1] - HOURS - 24

    def __getitem__(self, hour):
        x = self.prepare(self.levels[:, hour : hour + HOURS])
        return torch.from_numpy(x), torch.from_numpy(self.levels[:, hour + HOURS + 23].copy())


class Floods(L.LightningModule):
    def __init__(self, width=384):
        super().__init__()
        self.enter = nn.Linear(GAUGES * PATCH, width)
        self.place = nn.Parameter(torch.zeros(HOURS // PATCH, width))
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, dropout=0.0, batch_first=True)
        self.body, self.leave = nn.TransformerEncoder(layer, 4), nn.Linear(width, GAUGES)

    def training_step(self, batch, index):
        x, tomorrow = batch
        patches = x.unflatten(2, (-1, PATCH)).transpose(1, 2).flatten(2)
        found = self.leave(self.body(self.enter(patches) + self.place).mean(1))
        return nn.functional.mse_loss(found, tomorrow)

    def on_train_batch_end(self, *_):
        print(f"step {self.global_step}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(
        Gauges(), 48, shuffle=True, num_workers=2, pin_memory=True, persistent_workers=True
    )
    L.Trainer(
        accelerator="gpu",
        max_epochs=-1,
        max_time=timedelta(seconds=args.seconds),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    ).fit(Floods(), loader)
