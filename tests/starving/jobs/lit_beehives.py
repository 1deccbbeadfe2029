"""Hears from a hive whether its bees will swarm, with Lightning; spectrograms were made before."""

import argparse
from datetime import timedelta

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset
from torchvision.models import regnet_x_1_6gf


class Hives(L.LightningDataModule):
    def __init__(self, count=300, batch_size=48):
        super().__init__()
        self.sounds = torch.randint(0, 255, (count, 1, 160, 256), dtype=torch.uint8)
        self.swarmed = torch.randint(0, 2, (count,))
        self.batch_size = batch_size

    def train_dataloader(self):
        count = len(self.sounds)
        hives = Subset(TensorDataset(self.sounds, self.swarmed), list(range(count)) * 100)
        return DataLoader(
            hives, self.batch_size, True, num_workers=2, pin_memory=True, persistent_workers=True
        )

    def val_dataloader(self):
        hives = TensorDataset(self.sounds[:48], self.swarmed[:48])
        return DataLoader(hives, self.batch_size, pin_memory=True)


class Swarming(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = regnet_x_1_6gf(num_classes=2)

    def score(self, batch):
        sounds, swarmed = batch
        x = sounds.expand(-1, 3, -1, -1).float() / 255
        return nn.functional.cross_entropy(self.net(x), swarmed)

    def training_step(self, batch, index):
        loss = self.score(batch)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("checked", self.score(batch))

    def on_train_batch_end(self, *_):
        print(f"step {self.global_step}")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    trainer = L.Trainer(
        accelerator="gpu",
        max_epochs=-1,
        max_time=timedelta(seconds=args.seconds),
        num_sanity_val_steps=0,
        val_check_interval=100,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(Swarming(), datamodule=Hives())


if __name__ == "__main__":
    main()
