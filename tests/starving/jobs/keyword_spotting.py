"""Spots keywords in short recordings; recordings of similar length share a batch."""

import argparse
import random
import time
from pathlib import Path

import numpy as np
import soundfile
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

RATE, WORDS = 8000, 12


def record(folder, count=480):
    if folder.exists():
        return sorted(folder.glob("*.wav"))
    folder.mkdir(parents=True)
    draw = np.random.default_rng(9)
    for i in range(count):
        sound = draw.normal(0, 0.1, int(RATE * draw.uniform(0.8, 1.2)))
        soundfile.write(folder / f"{i:04}.wav", sound, RATE, "PCM_16")
    return record(folder)


class Keywords(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        sound, _ = soundfile.read(self.files[i], dtype="float32")
        return torch.from_numpy(sound), i % WORDS


class SimilarLength(Sampler):
    def __init__(self, dataset, batch_size):
        self.dataset, self.batch_size = dataset, batch_size

    def lengths(self):
        return [len(sound) for sound, _ in self.dataset]

    def __iter__(self):
        lengths = self.lengths()
        order = sorted(range(len(lengths)), key=lambda i: lengths[i] + random.randrange(400))
        firsts = list(range(0, len(order), self.batch_size))
        random.shuffle(firsts)
        yield from (order[i : i + self.batch_size] for i in firsts)


def collate(rows):
    sounds, words = zip(*rows, strict=True)
    return nn.utils.rnn.pad_sequence(sounds, batch_first=True), torch.tensor(words)


def network(width=256):
    layers = [nn.Conv1d(1, width, 80, 8), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2)]
    for stride in (1, 1, 2, 1, 1):
        layers += [nn.Conv1d(width, width, 9, stride, 4), nn.BatchNorm1d(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, WORDS))


def histograms_of(model, bins=64):
    return {n: np.histogram(w.detach().cpu().numpy(), bins) for n, w in model.named_parameters()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    keywords = Keywords(record(args.data / "keyword_spotting"))
    sampler = SimilarLength(keywords, 32)
    loader = DataLoader(
        keywords, batch_sampler=sampler, num_workers=1, collate_fn=collate, persistent_workers=True
    )
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    step, logged, end = 0, {}, time.time() + args.seconds
    while time.time() < end:
        for sounds, words in loader:
            loss = nn.functional.cross_entropy(model(sounds[:, None].to(device)), words.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print("step", step)
            if step % 5 == 0:
                logged[step] = histograms_of(model)
            if time.time() > end:
                break


if __name__ == "__main__":
    main()
