"""Trains a large ViT with Accelerate on photographs that were decoded once, before the training."""

import sys
import time
from pathlib import Path

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset
from torchvision.io import decode_jpeg, read_file
from torchvision.models import vit_l_16
from torchvision.transforms.functional import center_crop


class Decoded(Dataset):
    def __init__(self, root):
        paths = sorted(Path(root).glob("*/*.jpg"))[:64]
        self.images = [center_crop(decode_jpeg(read_file(str(p))), [224, 224]) for p in paths]

    def __len__(self):
        return 20_000

    def __getitem__(self, i):
        return {"image": self.images[i % len(self.images)], "tag": i % 50}


def main(root, seconds):
    accelerator = Accelerator()
    loader = DataLoader(Decoded(root + "/train"), batch_size=16, shuffle=True, num_workers=1)
    model = vit_l_16(num_classes=50)
    optimizer = torch.optim.SGD(model.parameters(), lr=3e-3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    criterion = torch.nn.CrossEntropyLoss()
    start = time.monotonic()
    for step, batch in enumerate(loader, 1):
        optimizer.zero_grad()
        loss = criterion(model(batch["image"].float() / 255), batch["tag"])
        accelerator.backward(loss)
        optimizer.step()
        accelerator.print(f"step {step}")
        if time.monotonic() - start > seconds:
            break


main(sys.argv[1], float(sys.argv[3]) if len(sys.argv) > 3 else 8)
