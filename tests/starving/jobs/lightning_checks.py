"""Fine-tunes a network and checks it against photographs all the time."""

import argparse
import datetime

import lightning.pytorch as pl
import torch
import torchvision
from torch.utils.data import DataLoader, TensorDataset
from torchvision.transforms import Compose, Resize, ToTensor


class LitResNet(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.backbone = torchvision.models.resnet50(num_classes=2)
        self.criterion = torch.nn.CrossEntropyLoss()

    def forward(self, x):
        return self.backbone(x)

    def training_step(self, batch, _):
        images, labels = batch
        return self.criterion(self(images / 255), labels)

    def validation_step(self, batch, _):
        images, labels = batch
        self.log("val_loss", self.criterion(self(images), labels))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class PrintSteps(pl.Callback):
    def on_train_batch_end(self, trainer, *_):
        print(f"step {trainer.global_step}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("data")
    cli.add_argument("--seconds", type=float, default=8)
    options = cli.parse_args()
    torch.set_num_threads(1)
    pixels = torch.randint(0, 256, (512, 3, 160, 160), dtype=torch.uint8)
    train_set = TensorDataset(pixels, torch.zeros(512, dtype=torch.long))
    val_set = torchvision.datasets.ImageFolder(
        options.data + "/val", Compose([Resize((160, 160)), ToTensor()])
    )
    trainer = pl.Trainer(
        accelerator="gpu",
        max_time=datetime.timedelta(seconds=options.seconds),
        max_epochs=-1,
        val_check_interval=4,
        num_sanity_val_steps=0,
        callbacks=[PrintSteps()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(
        LitResNet(),
        train_dataloaders=DataLoader(train_set, 32, shuffle=True),
        val_dataloaders=DataLoader(val_set, 20),
    )
