"""Lightning's Trainer: a module of a few layers in 16-bit mixed precision on the GPU it finds."""

import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

try:
    import lightning
except ImportError:
    import pytorch_lightning as lightning  # what it was called before


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, 10),
        )

    def training_step(self, batch, _):
        images, labels = batch
        loss = nn.functional.cross_entropy(self.layers(images), labels)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        images, labels = batch
        self.log("val_loss", nn.functional.cross_entropy(self.layers(images), labels))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2)]


def main() -> None:
    data = TensorDataset(torch.randn(256, 3, 32, 32), torch.randint(10, (256,)))
    loader = DataLoader(data, batch_size=32, shuffle=True, num_workers=1, pin_memory=True)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            accelerator="gpu",
            devices=1,
            max_epochs=2,
            precision="16-mixed",
            default_root_dir=folder,
            log_every_n_steps=4,
            enable_progress_bar=False,
        )
        trainer.fit(Classifier(), loader, loader)
    print("device", trainer.strategy.root_device)
    print("steps", trainer.global_step)


if __name__ == "__main__":
    main()
