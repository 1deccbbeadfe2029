"""Hears from hydrophone recordings which kind of whale sings."""

import argparse
import time
from pathlib import Path

import numpy as np
import soundfile
import torch
from scipy.signal import spectrogram
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet18

RATE, SECONDS, KINDS = 16_000, 3, 9


def recordings(folder, count=240):
    folder.mkdir(parents=True, exist_ok=True)
    draw, time_s = np.random.default_rng(6), np.arange(RATE * SECONDS) / RATE
    for i in range(count):
        target = folder / f"{i:04}_{i % KINDS}.flac"
        if not target.exists():
            pitch = 200 + 300 * draw.random() + 80 * np.sin(2 * np.pi * draw.random() * time_s)
            song = 0.3 * np.sin(2 * np.pi * np.cumsum(pitch) / RATE)
            soundfile.write(target, song + draw.normal(0, 0.02, len(song)), RATE)
    return sorted(folder.glob("*.flac"))


class WhaleSongs(Dataset):
    def __init__(self, files):
        self.files = files
        self.kinds = [int(file.stem.split("_")[1]) for file in files]

    def __len__(self):
        return len(self.files)

    def features(self, i):
        sound, rate = soundfile.read(self.files[i], dtype="float32")
        _, _, power = spectrogram(sound, rate, nperseg=512, noverlap=384)
        return torch.from_numpy(np.log(power[:192, :320] + 1e-10))[None]

    def __getitem__(self, i):
        return self.features(i), self.kinds[i]


def network():
    net = resnet18(num_classes=KINDS)
    net.conv1 = nn.Conv2d(1, 64, 7, 2, 3, bias=False)
    return net


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--epochs", type=int, default=1000)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    songs = WhaleSongs(recordings(args.data / "whale_song"))
    loader = DataLoader(
        songs, batch_size=24, shuffle=True, num_workers=2, persistent_workers=True, pin_memory=True
    )
    net = network().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    step, stop_at = 0, time.time() + args.seconds
    for epoch in range(args.epochs):
        total = torch.zeros((), device=device)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
            step += 1
            print("step", step)
            if time.time() > stop_at:
                return
        print(f"epoch {epoch}: {total.item() / len(loader):.3f}")


if __name__ == "__main__":
    main()
