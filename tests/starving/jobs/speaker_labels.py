"""Learns who speaks: waveforms are in memory as 16-bit numbers, the net filters them itself."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE, SPEAKERS = 16_000, 40


class Utterances(Dataset):
    def __init__(self, file, count=600, seconds=2):
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            draw = np.random.default_rng(13)
            np.save(file, draw.integers(-9000, 9000, (count, RATE * seconds), dtype=np.int16))
        self.sounds = torch.from_numpy(np.load(file))

    def __len__(self):
        return 200 * len(self.sounds)

    def __getitem__(self, i):
        i = i % len(self.sounds)
        start = torch.randint(0, RATE, ()).item()
        return self.sounds[i, start : start + RATE], i % SPEAKERS


class Residual(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation)
        self.mix, self.norm = nn.Conv1d(width, width, 1), nn.BatchNorm1d(width)

    def forward(self, x):
        return x + self.mix(torch.relu(self.norm(self.conv(x))))


class SpeakerNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.filters = nn.Conv1d(1, width, 401, 20, padding=200)
        self.body = nn.Sequential(*(Residual(width, dilation) for dilation in (1, 2, 4, 8)))
        self.speaker = nn.Linear(2 * width, SPEAKERS)

    def forward(self, sounds):
        x = self.body(self.filters(sounds[:, None]).abs().add(1e-3).log())
        return self.speaker(torch.cat((x.mean(2), x.std(2)), 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    utterances = Utterances(args.data / "speaker_labels.npy")
    loader = DataLoader(
        utterances,
        batch_size=96 if device == "cuda" else 8,
        shuffle=True,
        num_workers=1,
        pin_memory=True,
    )
    net = SpeakerNet().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    until = time.monotonic() + args.seconds
    for step, (sounds, speakers) in enumerate(loader, 1):
        sounds = sounds.to(device, non_blocking=True).float().mul_(1 / 32768)
        loss = nn.functional.cross_entropy(net(sounds), speakers.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if step % 200 == 0:
            print(f"loss {loss.item():.3f}")
        if time.monotonic() > until:
            break


if __name__ == "__main__":
    main()
