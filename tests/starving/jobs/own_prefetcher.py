"""Trains on photographs that a thread of the script's own decodes ahead."""

import argparse
import queue
import threading
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torchvision import models


def decode(path):
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB").resize((160, 160)))
    return torch.from_numpy(pixels.copy()).permute(2, 0, 1)


def produce(paths, batches, size):
    place = 0
    while True:
        chosen = [paths[(place + i) % len(paths)] for i in range(size)]
        batches.put(torch.stack([decode(path) for path in chosen]).pin_memory())
        place += size


def main(args):
    paths = sorted(Path(args.data, "train").rglob("*.jpg"))
    batches = queue.Queue(maxsize=4)
    threading.Thread(target=produce, args=(paths, batches, 32), daemon=True).start()
    model = models.resnet18().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    labels = torch.zeros(32, dtype=torch.long, device="cuda")
    started, step = time.time(), 0
    while time.time() - started < args.seconds:
        images = batches.get()
        output = model(images.cuda(non_blocking=True).float() / 255)
        loss = torch.nn.functional.cross_entropy(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print(f"step {step}")


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
main(parser.parse_args())
