"""Tells birds by their calls. Recordings are wave files of different rates."""

import argparse
import tempfile
import time
import wave
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

RATE = 16_000


def record(folder, count=20):
    for bird in range(count):
        rate = (22_050, 32_000)[bird % 2]
        tone = np.sin(np.arange(2 * rate) * 2 * np.pi * (400 + 90 * bird) / rate)
        with wave.open(f"{folder}/{bird}.wav", "wb") as file:
            file.setparams((1, 2, rate, 0, "NONE", ""))
            file.writeframes((tone * 20_000).astype("<i2").tobytes())


class Reverb:
    def __init__(self, seconds=0.05):
        taps = int(seconds * RATE)
        self.room = np.random.default_rng(1).normal(size=taps) * np.exp(-np.arange(taps) / 200)

    def __call__(self, signal):
        return np.convolve(signal, self.room.astype(np.float32))[: len(signal)]


class Calls(Dataset):
    def __init__(self, folder, augment):
        self.files = sorted(Path(folder).glob("*.wav"))
        self.augment = augment

    def __len__(self):
        return 60_000

    def __getitem__(self, index):
        with wave.open(str(self.files[index % len(self.files)])) as file:
            rate, raw = file.getframerate(), file.readframes(file.getnframes())
        signal = np.frombuffer(raw, "<i2").astype(np.float32) / 32_768
        wanted = np.arange(0, len(signal), rate / RATE)
        signal = np.interp(wanted, np.arange(len(signal)), signal).astype(np.float32)
        return torch.from_numpy(self.augment(signal)[: RATE * 2]), index % 20


def network(width=64):
    layers, channels = [], 1
    for _ in range(6):
        layers += [nn.Conv1d(channels, width, 9, 3, 4), nn.BatchNorm1d(width), nn.ReLU()]
        channels, width = width, min(512, width * 2)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(512, 20))


def main(args):
    model = network().cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4)
    with tempfile.TemporaryDirectory() as folder:
        record(folder)
        calls = Calls(folder, augment=Reverb())
        loader = DataLoader(calls, 16, shuffle=True, num_workers=1, pin_memory=True)
        start = time.time()
        for step, (signals, birds) in enumerate(loader, 1):
            logits = model(signals.cuda(non_blocking=True).unsqueeze(1))
            loss = nn.functional.cross_entropy(logits, birds.cuda(non_blocking=True))
            optimizer.zero_grad(), loss.backward(), optimizer.step()
            print(f"step {step}")
            if time.time() - start > args.seconds:
                break


p = argparse.ArgumentParser()
p.add_argument("data")
p.add_argument("--seconds", type=float, default=8)
main(p.parse_args())
