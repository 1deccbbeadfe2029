"""Matrix factorisation with Lightning; the best weights are kept by a callback."""

import argparse
import tempfile
from datetime import timedelta

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Factors(pl.LightningModule):
    def __init__(self, users=30_000, items=20_000, width=96):
        super().__init__()
        self.users, self.items = nn.Embedding(users, width), nn.Embedding(items, width)
        self.score = nn.Sequential(nn.Linear(2 * width, 1024), nn.ReLU(), nn.Linear(1024, 1))

    def training_step(self, batch, _):
        user, item, rating = batch
        pair = torch.cat([self.users(user), self.items(item)], dim=1)
        return nn.functional.mse_loss(self.score(pair).squeeze(1), rating)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        print(f"step {self.trainer.global_step}")


def ratings(count=400_000):
    return TensorDataset(
        torch.randint(0, 30_000, (count,)), torch.randint(0, 20_000, (count,)), torch.rand(count)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--save-every", type=int, default=25)
    args = parser.parse_args()
    batches = list(DataLoader(ratings(), batch_size=4096))
    with tempfile.TemporaryDirectory() as folder:
        keep = ModelCheckpoint(folder, every_n_train_steps=args.save_every, save_last=True)
        trainer = pl.Trainer(
            accelerator="gpu",
            max_epochs=-1,
            max_time=timedelta(seconds=args.seconds),
            callbacks=[keep],
            logger=False,
            enable_progress_bar=False,
        )
        trainer.fit(Factors(), DataLoader(batches * 20, batch_size=None))


if __name__ == "__main__":
    main()
