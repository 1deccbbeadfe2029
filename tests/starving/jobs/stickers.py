"""Learns what animated stickers are about: one frame of each, wherever in the film it is."""

import argparse
import io
import random
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet34

SIDE, FRAMES = 160, 12


def animate(photo):
    """A film that moves over a photograph, as the files of people look."""
    moves = [photo.crop((4 * i, 2 * i, 4 * i + SIDE, 2 * i + SIDE)) for i in range(FRAMES)]
    film = io.BytesIO()
    moves[0].save(film, "GIF", save_all=True, append_images=moves[1:], duration=80, loop=0)
    return film.getvalue()


class Stickers(Dataset):
    def __init__(self, folder, count=40):
        self.films = []
        for file in sorted(Path(folder).glob("*/*.jpg"))[:count]:
            with Image.open(file) as photo:
                self.films.append((animate(photo.convert("P")), int(file.parent.name == "dog")))

    def __len__(self):
        return 50_000

    def __getitem__(self, i):
        data, topic = self.films[i % len(self.films)]
        film = Image.open(io.BytesIO(data))
        film.seek(random.randrange(film.n_frames))
        frame = np.array(film.convert("RGB"))
        return torch.from_numpy(frame).permute(2, 0, 1).contiguous(), topic


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(
        Stickers(args.data + "/train"), batch_size=32, num_workers=2, pin_memory=True, shuffle=True
    )
    net = resnet34(num_classes=2).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    stop_at = time.monotonic() + args.seconds
    for step, (frames, topics) in enumerate(loader, 1):
        x = frames.cuda(non_blocking=True).float().div_(127.5).sub_(1)
        loss = nn.functional.cross_entropy(net(x), topics.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.monotonic() > stop_at:
            break


if __name__ == "__main__":
    main()
