"""Trains EfficientNet on shards: tar files of photographs, read from front to back."""

import argparse
import io
import itertools
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from torchvision.models import efficientnet_b0


def write_shards(source, target, shards=8):
    files = sorted(Path(source).rglob("*.jpg"))
    for shard in range(shards):
        with tarfile.open(f"{target}/shard-{shard:06d}.tar", "w") as tar:
            for file in files[shard::shards]:
                tar.add(file, arcname=f"{file.stem}.{file.parent.name}.jpg")
    return sorted(Path(target).glob("*.tar"))


class ShardReader(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        info = get_worker_info()
        mine = self.shards[info.id :: info.num_workers] if info else self.shards
        for shard in itertools.cycle(mine):
            with tarfile.open(shard, "r|") as tar:
                for member in tar:
                    yield self.sample(member.name, tar.extractfile(member).read())

    @staticmethod
    def sample(name, data):
        picture = Image.open(io.BytesIO(data)).convert("RGB").resize((224, 224))
        pixels = torch.from_numpy(np.array(picture)).permute(2, 0, 1)
        return pixels, int(".dog." in name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    net = efficientnet_b0(num_classes=2).cuda()
    sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    with tempfile.TemporaryDirectory() as folder:
        shards = write_shards(args.data + "/train", folder)
        loader = DataLoader(ShardReader(shards), batch_size=24, num_workers=2, pin_memory=True)
        start = time.time()
        for step, (x, y) in enumerate(loader, 1):
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            loss = F.cross_entropy(net(x.float() / 255), y)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            print(f"step {step}", flush=True)
            if time.time() - start > args.seconds:
                break


main()
