"""Recognises spoken digits from their log spectrograms."""

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


def record(folder, count=40):
    rng = np.random.default_rng(0)
    for digit in range(count):
        with wave.open(str(folder / f"{digit % 10}_{digit}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(rng.integers(-9999, 9999, 2 * RATE, dtype=np.int16).tobytes())


class SpokenDigits(Dataset):
    def __init__(self, folder):
        self.clips = sorted(folder.glob("*.wav")) * 400
        self.window = np.hanning(400)
        self.mel = np.random.default_rng(1).random((201, 64), dtype=np.float64)

    def __len__(self):
        return len(self.clips)

    def log_mel(self, samples):
        frames = []
        for start in range(0, len(samples) - 400, 160):
            spectrum = np.abs(np.fft.rfft(samples[start : start + 400] * self.window)) ** 2
            frames.append(np.log(spectrum @ self.mel + 1e-6))
        return np.stack(frames).astype(np.float32)

    def __getitem__(self, index):
        clip = self.clips[index]
        with wave.open(str(clip)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16)
        features = self.log_mel(samples / 32768)
        return torch.from_numpy(features), int(clip.name[0])


class KeywordNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(64, 256, num_layers=2, batch_first=True)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


def main(options):
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder))
        dataset = SpokenDigits(Path(folder))
        batches = DataLoader(dataset, 32, shuffle=True, num_workers=2, pin_memory=True)
        net = KeywordNet().cuda()
        adam = torch.optim.Adam(net.parameters())
        end = time.monotonic() + options.seconds
        for step, (x, y) in enumerate(batches, 1):
            adam.zero_grad()
            out = net(x.cuda(non_blocking=True))
            nn.functional.cross_entropy(out, y.cuda(non_blocking=True)).backward()
            adam.step()
            print(f"step {step}")
            if time.monotonic() > end:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    main(parser.parse_args())
