"""Tells diseases of leaves apart in photographs from farmers' phones."""

import argparse
import time
from pathlib import Path

import numpy as np
import timm
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

DISEASES = ("healthy", "rust", "mildew", "blight", "mosaic")


def phone_photos(folder, count=60, size=(800, 640)):
    """Stands in for the collection: blurred colours with some grain, as JPEG."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(3)
    for i in range(count):
        target = folder / f"{DISEASES[i % len(DISEASES)]}_{i:03}.jpg"
        if not target.exists():
            coarse = draw.integers(0, 255, (24, 32, 3), dtype=np.uint8)
            photo = np.asarray(Image.fromarray(coarse).resize(size, Image.BICUBIC), np.int16)
            photo = photo + draw.normal(0, 6, photo.shape)
            Image.fromarray(photo.clip(0, 255).astype(np.uint8)).save(target, quality=88)
    return sorted(folder.glob("*.jpg"))


class LeafDataset(Dataset):
    def __init__(self, files, side, repeats=200):
        self.files = files * repeats
        self.transform = v2.Compose(
            [v2.Resize((side, side)), v2.RandomHorizontalFlip(), v2.PILToTensor()]
        )

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path = self.files[i]
        image = Image.open(path).convert("RGB")
        return self.transform(image), DISEASES.index(path.name.split("_")[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--model", default="resnet34")
    parser.add_argument("--img-size", type=int, default=160)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    leaves = LeafDataset(phone_photos(args.data / "leaf_diseases"), args.img_size)
    loader = DataLoader(
        leaves, args.batch_size, shuffle=True, num_workers=2, pin_memory=True, drop_last=True
    )
    model = timm.create_model(args.model, num_classes=len(DISEASES)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.05)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    started = time.time()
    for step, (images, targets) in enumerate(loader, 1):
        images = images.to(device, non_blocking=True).float().div(255)
        loss = criterion(model(images), targets.to(device, non_blocking=True))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.time() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
