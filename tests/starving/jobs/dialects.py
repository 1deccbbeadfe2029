"""Tells dialects apart; utterances of a batch are of about one length, so that little is padded."""

import argparse
import random
import time

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler


class Utterances(Dataset):
    def __init__(self, count, features=80):
        draw = random.Random(6)
        self.lengths = [min(400, int(draw.gammavariate(5, 40)) + 20) for _ in range(count)]
        self.frames = torch.randn(1000, features)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        start = i % 500
        return self.frames[start : start + self.lengths[i]], i % 8


class AboutAsLong(Sampler):
    """Batches around an utterance that is drawn: those whose lengths are the nearest to its own."""

    def __init__(self, lengths, batch_size):
        self.lengths, self.batch_size = lengths, batch_size

    def __len__(self):
        return len(self.lengths) // self.batch_size

    def __iter__(self):
        places = list(range(len(self.lengths)))
        for _ in range(len(self)):
            wanted = self.lengths[random.choice(places)] + random.random()
            places.sort(key=lambda place: abs(self.lengths[place] - wanted))
            yield places[: self.batch_size]


def pad(batch):
    frames, dialects = zip(*batch, strict=True)
    return pad_sequence(frames, batch_first=True), torch.tensor(dialects)


class Listener(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.enter = nn.Conv1d(80, width, 3, stride=2, padding=1)
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, dropout=0.0, batch_first=True)
        self.body, self.dialect = nn.TransformerEncoder(layer, 6), nn.Linear(width, 8)

    def forward(self, frames):
        x = self.enter(frames.transpose(1, 2)).transpose(1, 2)
        return self.dialect(self.body(x).mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--utterances", type=int, default=100_000)
    args = parser.parse_args()
    speech = Utterances(args.utterances)
    order = AboutAsLong(speech.lengths, 32)
    loader = DataLoader(speech, batch_sampler=order, collate_fn=pad, num_workers=2, pin_memory=True)
    model = Listener().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    stop = time.time() + args.seconds
    for step, (frames, dialects) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(frames.cuda()), dialects.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {frames.shape[1]} frames")
        if time.time() > stop:
            break


if __name__ == "__main__":
    main()
