"""Lightning, a data module and a data set that is small: an epoch is soon over."""

import argparse
from datetime import timedelta

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet34


class Digits(Dataset):
    def __init__(self, size=384):
        self.images = torch.randint(0, 256, (size, 1, 112, 112), dtype=torch.uint8)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index].float().expand(3, -1, -1) / 255, index % 10


class DigitsModule(pl.LightningDataModule):
    def __init__(self, batch_size, num_workers):
        super().__init__()
        self.save_hyperparameters()

    def setup(self, stage):
        self.train_set = Digits()

    def train_dataloader(self):
        h = self.hparams
        return DataLoader(self.train_set, h.batch_size, shuffle=True, num_workers=h.num_workers)


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = resnet34(num_classes=10)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)

    def on_train_batch_end(self, *args):
        print("step", self.global_step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()
    pl.Trainer(
        accelerator="gpu",
        devices=1,
        max_epochs=-1,
        max_time=timedelta(seconds=arguments.seconds),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    ).fit(Classifier(), datamodule=DigitsModule(batch_size=32, num_workers=2))
