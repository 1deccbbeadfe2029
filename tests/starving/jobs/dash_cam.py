"""Foresees braking from what a camera behind the windscreen has filmed."""

import argparse
import random
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FRAMES, CLIP, SIZE = 72, 12, (160, 120)


def drive(folder, films=10):
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(18)
    for film in range(films):
        path = folder / f"drive{film}.avi"
        if not path.exists():
            writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 25, SIZE)
            road = cv2.resize(draw.integers(0, 255, (15, 20, 3), dtype=np.uint8), SIZE)
            for frame in range(FRAMES):
                writer.write(np.roll(road, 2 * frame, axis=0))
            writer.release()
    return sorted(folder.glob("*.avi"))


class Drives(Dataset):
    def __init__(self, films):
        self.films = films

    def __len__(self):
        return 500 * len(self.films)

    def clip(self, path, start):
        video, frames = cv2.VideoCapture(str(path)), []
        for place in range(start + CLIP):
            ok, frame = video.read()
            if ok and place >= start:
                frames.append(frame)
        video.release()
        return np.stack(frames)

    def __getitem__(self, i):
        clip = self.clip(self.films[i % len(self.films)], random.randrange(FRAMES - CLIP))
        return torch.from_numpy(clip).permute(3, 0, 1, 2), float(i % 2)


def network(width=80):
    layers, channels = [], 3
    for out, stride in ((width, (1, 2, 2)), (2 * width, 2), (4 * width, 2), (6 * width, 1)):
        layers += [nn.Conv3d(channels, out, 3, stride, 1), nn.BatchNorm3d(out), nn.ReLU(True)]
        channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(channels, 1))


def save(path, model, optimizer, step):
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--save-every", type=int, default=5)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    drives = Drives(drive(args.data / "dash_cam"))
    loader = DataLoader(drives, batch_size=6, shuffle=True)
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    started = time.time()
    with tempfile.TemporaryDirectory() as out:
        for step, (clips, brakes) in enumerate(loader, 1):
            logits = model(clips.to(device).float() / 255).squeeze(1)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, brakes.float().to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % args.save_every == 0:
                save(f"{out}/last.pt", model, optimizer, step)
            print("step", step)
            if time.time() - started > args.seconds:
                break


if __name__ == "__main__":
    main()
