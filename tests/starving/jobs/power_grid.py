"""Forecasts the load of a power grid with Lightning, from meters and what they said on average."""

import argparse
from datetime import timedelta

import lightning as L
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

METERS, SEEN, DAY = 10, 512, 24


class GridWindows(Dataset):
    def __init__(self, hours=20_000, count=360, seed=3):
        rng = np.random.default_rng(seed)
        load = rng.normal(size=(hours, METERS)).cumsum(0).astype(np.float32)
        self.load = pd.DataFrame(load, columns=[f"meter{n}" for n in range(METERS)])
        self.starts = rng.integers(0, hours - SEEN - 2 * DAY, count)

    def __len__(self):
        return len(self.starts)

    def smooth(self, load):
        day = load.rolling(DAY)
        return np.concatenate((day.mean(), day.max() - day.min()), axis=1)

    def __getitem__(self, i):
        start = self.starts[i]
        window = self.load.iloc[start : start + SEEN + DAY]
        smooth = self.smooth(window)[DAY:]
        x = np.concatenate((window.to_numpy()[DAY:], smooth), axis=1).astype(np.float32)
        return torch.from_numpy(x), torch.tensor(self.load.iat[start + SEEN + 2 * DAY - 1, 0])


class Forecaster(L.LightningModule):
    def __init__(self, width=384, depth=6):
        super().__init__()
        layers = [nn.Conv1d(3 * METERS, width, 1)]
        for i in range(depth):
            conv = nn.Conv1d(width, width, 5, padding=2 * 2**i, dilation=2**i)
            layers += [conv, nn.BatchNorm1d(width), nn.ReLU()]
        self.body, self.head = nn.Sequential(*layers), nn.Linear(width, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.l1_loss(self.head(self.body(x.mT).mean(2)).squeeze(1), y)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        print(f"step {self.global_step}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--num-workers", type=int, default=8)
    args = parser.parse_args()
    train_loader = DataLoader(
        GridWindows(), batch_size=16, shuffle=True, num_workers=args.num_workers, pin_memory=True
    )
    trainer = L.Trainer(
        accelerator="auto",
        devices=1,
        max_epochs=-1,
        max_time=timedelta(seconds=args.seconds),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Forecaster(), train_loader)


if __name__ == "__main__":
    main()
