"""Dates wood from the rings in its cores, with Accelerate."""

import argparse
import time

import torch
from accelerate import Accelerator, DataLoaderConfiguration
from torch.nn.functional import huber_loss
from torch.utils.data import DataLoader, Dataset
from torchvision.models import vit_b_16


class Cores(Dataset):
    def __init__(self, count=256):
        self.wood = torch.randint(0, 255, (count, 1, 224, 224), dtype=torch.uint8)
        self.felled = torch.randint(1200, 1900, (count,)).float()

    def __len__(self):
        return 100 * len(self.wood)

    def __getitem__(self, i):
        i = i % len(self.wood)
        return {"wood": self.wood[i], "felled": self.felled[i]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    accelerator = Accelerator(
        mixed_precision="bf16", dataloader_config=DataLoaderConfiguration(non_blocking=True)
    )
    loader = DataLoader(Cores(), 32, shuffle=True, num_workers=1, pin_memory=True)
    model = vit_b_16(num_classes=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, fused=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    until = time.monotonic() + args.seconds
    for step, batch in enumerate(loader, 1):
        with accelerator.autocast():
            x = batch["wood"].expand(-1, 3, -1, -1).float() / 255
            years = model(x).squeeze(1).float()
        accelerator.backward(huber_loss(years, batch["felled"] / 100, delta=0.5))
        optimizer.step()
        optimizer.zero_grad()
        accelerator.print("step", step)
        if time.monotonic() > until:
            break


if __name__ == "__main__":
    main()
