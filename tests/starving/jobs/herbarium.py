"""Names plants from pressed leaves, with Accelerate."""

import argparse
import time

import torch
from accelerate import Accelerator
from PIL import ImageFilter
from torch.utils.data import ConcatDataset, DataLoader
from torchvision import transforms as T
from torchvision.datasets import ImageFolder
from torchvision.models import convnext_tiny


class Despeckle:
    """Takes dust off a scan and keeps the edges of a leaf."""

    def __init__(self, size):
        self.median = ImageFilter.MedianFilter(size)

    def __call__(self, image):
        return image.filter(self.median)


def leaves(folder):
    prepare = T.Compose(
        [
            T.RandomResizedCrop(128, scale=(0.3, 1.0)),
            Despeckle(5),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize([0.5] * 3, [0.25] * 3),
        ]
    )
    return ConcatDataset([ImageFolder(folder, prepare)] * 50)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=8)
    args = parser.parse_args()
    accelerator = Accelerator(mixed_precision="bf16")
    loader = DataLoader(leaves(args.data + "/train"), args.batch, shuffle=True, num_workers=2)
    model = convnext_tiny(num_classes=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.05)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    begin = time.perf_counter()
    for step, (images, names) in enumerate(loader, 1):
        with accelerator.autocast():
            loss = torch.nn.functional.cross_entropy(model(images), names, label_smoothing=0.1)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.print(f"step {step}")
        if time.perf_counter() - begin > args.seconds:
            break


if __name__ == "__main__":
    main()
