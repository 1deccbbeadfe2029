"""Tells crops apart from above; tiles are streamed out of tar files and shuffled on the way."""

import argparse
import io
import itertools
import random
import tarfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from torchvision.models import resnet34

CROPS, SIDE = 8, 112


def shards(folder, count=8, tiles=100):
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(77)
    for shard in range(count):
        path = folder / f"{shard:05}.tar"
        if path.exists():
            continue
        with tarfile.open(path, "w") as tar:
            for tile in range(tiles):
                coarse = draw.integers(0, 255, (14, 14, 3), dtype=np.uint8)
                picture, file = Image.fromarray(coarse).resize((SIDE, SIDE)), io.BytesIO()
                picture.save(file, "png")
                entry = tarfile.TarInfo(f"{shard:05}-{tile:04}.{tile % CROPS}.png")
                entry.size = file.tell()
                file.seek(0)
                tar.addfile(entry, file)
    return sorted(folder.glob("*.tar"))


class ShardStream(IterableDataset):
    def __init__(self, paths, buffer_size=600):
        self.paths, self.buffer_size = paths, buffer_size

    def tiles(self):
        for path in itertools.cycle(self.paths):
            with tarfile.open(path, "r|") as tar:
                for entry in tar:
                    picture = Image.open(io.BytesIO(tar.extractfile(entry).read()))
                    pixels = torch.from_numpy(np.array(picture)).permute(2, 0, 1)
                    yield pixels, int(entry.name.split(".")[1])

    def __iter__(self):
        buffer = []
        for tile in self.tiles():
            buffer.append(tile)
            if len(buffer) >= self.buffer_size:
                random.shuffle(buffer)
                yield buffer.pop(0)


def worker_seed(worker):
    random.seed(worker + get_worker_info().seed % 2**32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    stream = ShardStream(shards(args.data / "satellite_shards"))
    loader = DataLoader(
        stream,
        batch_size=32,
        num_workers=args.workers,
        pin_memory=device == "cuda",
        worker_init_fn=worker_seed,
    )
    net = resnet34(num_classes=CROPS).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    end = time.time() + args.seconds
    for step, (tiles, crops) in enumerate(loader, 1):
        tiles = tiles.to(device, non_blocking=True).float() / 255
        loss = nn.functional.cross_entropy(net(tiles), crops.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() > end:
            break


if __name__ == "__main__":
    main()
