"""A script that trains on two spawned processes of Lightning's and writes what each was given.

usage: spawned_ranks_job.py FOLDER REPORT
"""

from __future__ import annotations

import atexit
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import lightning
import torch
from torchvision import datasets, transforms
from unstarve import DataLoader

EPOCHS = 2


class Model(lightning.LightningModule):  # type: ignore[misc]
    def __init__(self, report: Path) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3 * 16 * 16, 3)
        self.report = report
        self.labels: list[list[int]] = [[] for _ in range(EPOCHS)]

    def training_step(self, batch: Any, index: int) -> Any:
        images, labels = batch
        self.labels[self.current_epoch] += labels.tolist()
        return torch.nn.functional.cross_entropy(self.layer(images.flatten(1)), labels)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 0.1)

    def on_train_end(self) -> None:
        # gloo's threads drop the tensors of the last collectives, for which they take Python's
        # lock. PyTorch 2.15 aborts where Python has begun to end by then (docs/known_gaps.md).
        atexit.register(time.sleep, 0.5)
        found = {
            "engine": self.trainer.train_dataloader.explain().engine,
            "labels": self.labels,
            "weights": float(self.layer.weight.double().sum()),
        }
        (self.report / f"{self.global_rank}.json").write_text(json.dumps(found))


def main() -> None:
    folder, report = sys.argv[1:]
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    crops = transforms.Compose([transforms.RandomResizedCrop(16), transforms.ToTensor()])
    dataset = datasets.ImageFolder(folder, crops)
    lightning.seed_everything(1, verbose=False)
    trainer = lightning.Trainer(
        max_epochs=EPOCHS,
        accelerator="cpu",
        devices=2,
        strategy="ddp_spawn",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(Model(Path(report)), DataLoader(dataset, batch_size=2, shuffle=True, num_workers=1))


if __name__ == "__main__":
    main()
