"""Segments organs with Lightning and mixed precision; slices are prepared in time."""

import argparse
import datetime

import lightning as L
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models.segmentation import deeplabv3_resnet50


class Slices(Dataset):
    def __init__(self, count=200):
        self.scans = np.random.default_rng(5).integers(0, 4095, (24, 256, 256), dtype=np.int16)
        self.count = count

    def __len__(self):
        return self.count * 100

    def __getitem__(self, index):
        scan = np.roll(self.scans[index % 24], index % 17, axis=0)
        return torch.from_numpy(scan), torch.zeros(256, 256, dtype=torch.uint8)


class Organs(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=8)

    def training_step(self, batch, index):
        scan, organs = batch
        x = (scan.float() / 4095).unsqueeze(1).expand(-1, 3, -1, -1)
        loss = torch.nn.functional.cross_entropy(self.net(x)["out"], organs.long())
        print(f"step {self.global_step}")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4, fused=True)


def main(args):
    loader = DataLoader(Slices(), batch_size=16, num_workers=1, pin_memory=True)
    trainer = L.Trainer(
        accelerator="gpu",
        devices=1,
        precision="bf16-mixed",
        max_steps=10_000,
        max_time=datetime.timedelta(seconds=args.seconds),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(Organs(), loader)


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("data")
    cli.add_argument("--seconds", type=float, default=8)
    main(cli.parse_args())
