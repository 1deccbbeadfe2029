"""Extracts embeddings of photographs that a pool of processes reads."""

import argparse
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torchvision.models import vgg11

SIDE = 128


def read(path):
    with Image.open(path) as image:
        square = ImageOps.fit(image.convert("RGB"), (SIDE, SIDE))
    return np.asarray(square, dtype=np.uint8)


def chunks(paths, size):
    """Without end."""
    while True:
        for first in range(0, len(paths) - size + 1, size):
            yield paths[first : first + size]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    paths = sorted((args.data / "train").rglob("*.jpg"))
    with multiprocessing.Pool(2) as pool:
        model = vgg11().features.cuda().eval().requires_grad_(False)
        sums = torch.zeros(512, device="cuda")
        finish = time.time() + args.seconds
        for step, chunk in enumerate(chunks(paths, 48), 1):
            arrays = pool.map(read, chunk)
            x = torch.from_numpy(np.stack(arrays)).pin_memory().cuda(non_blocking=True)
            x = x.permute(0, 3, 1, 2).float() / 255
            sums += model(x).mean(dim=(0, 2, 3))
            print(f"step {step}")
            if time.time() > finish:
                break


if __name__ == "__main__":
    main()
