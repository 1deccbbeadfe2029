"""Trains a wide residual network with Lightning on small pictures held in memory."""

import argparse
from datetime import timedelta

import lightning as L
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset
from torchvision.models import wide_resnet50_2


class WideNet(L.LightningModule):
    def __init__(self, lr=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.model = wide_resnet50_2(num_classes=100)

    def training_step(self, batch):
        x, y = batch
        return cross_entropy(self.model(x.float() / 255), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)

    def on_train_batch_end(self, *_):
        if self.global_step % 2 == 0:
            print(f"step {self.global_step}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    pictures = torch.randint(0, 256, (800, 3, 160, 160), dtype=torch.uint8)
    data = TensorDataset(pictures.repeat(4, 1, 1, 1), torch.zeros(3200, dtype=torch.long))
    loader = DataLoader(
        data, 64, num_workers=1, pin_memory=True, persistent_workers=True, prefetch_factor=4
    )
    trainer = L.Trainer(
        devices=1,
        max_time=timedelta(seconds=args.seconds),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(WideNet(), loader)


if __name__ == "__main__":
    main()
