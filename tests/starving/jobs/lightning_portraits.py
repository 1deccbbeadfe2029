"""Classifies large photographs with PyTorch Lightning."""

import argparse
from datetime import timedelta
from pathlib import Path

import lightning as L
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import models
from torchvision.transforms import v2


class Portraits(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.jpg")) * 50
        self.prepare = v2.Compose([v2.CenterCrop(192), v2.PILToTensor()])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        file = self.files[i]
        return self.prepare(Image.open(file).convert("RGB")), int(file.parent.name == "dog")


class PortraitData(L.LightningDataModule):
    def __init__(self, root):
        super().__init__()
        self.root = root

    def setup(self, stage):
        self.portraits = Portraits(self.root)

    def train_dataloader(self):
        return DataLoader(self.portraits, batch_size=16, num_workers=2, shuffle=True)


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = models.resnet18(num_classes=2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x.float() / 255), y)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        print(f"step {self.global_step}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    trainer = L.Trainer(
        max_time=timedelta(seconds=args.seconds),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Classifier(), datamodule=PortraitData(args.data + "/large"))


main()
