"""Names orchids, with Lightning; what a botanist photographed this year is held out."""

import argparse
from datetime import timedelta
from pathlib import Path

import lightning as L
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset
from torchvision.models import resnet34
from torchvision.transforms import v2


class ThisYear(Dataset):
    def __init__(self, folder, count=48, side=160):
        self.files = sorted(Path(folder).rglob("*.jpg"))[:count]
        self.prepare = v2.Compose([v2.Resize(side + 16), v2.CenterCrop(side), v2.PILToTensor()])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image = Image.open(self.files[i]).convert("RGB")
        return self.prepare(image), i % 30


class Orchids(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = resnet34(num_classes=30)

    def loss(self, batch):
        images, kinds = batch
        return nn.functional.cross_entropy(self.net(images.float() / 255), kinds)

    def training_step(self, batch, index):
        return self.loss(batch)

    def validation_step(self, batch, index):
        self.log("this_year", self.loss(batch))

    def on_train_batch_end(self, *_):
        print("step", self.global_step)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)


def herbarium(count=320, side=160):
    images = torch.randint(0, 255, (count, 3, side, side), dtype=torch.uint8)
    orchids = TensorDataset(images, torch.randint(0, 30, (count,)))
    return Subset(orchids, list(range(count)) * 100)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    train = DataLoader(
        herbarium(), 64, shuffle=True, num_workers=1, pin_memory=True, persistent_workers=True
    )
    trainer = L.Trainer(
        accelerator="gpu",
        max_epochs=-1,
        max_time=timedelta(seconds=args.seconds),
        num_sanity_val_steps=0,
        val_check_interval=25,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Orchids(), train, DataLoader(ThisYear(args.data / "val"), batch_size=16))


if __name__ == "__main__":
    main()
