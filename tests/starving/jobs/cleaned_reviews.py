"""Classifies reviews; they are cleaned with regular expressions when they are read."""

import argparse
import re
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

TAGS = re.compile(r"<[^>]+>")
LINKS = re.compile(r"https?://\S+|www\.\S+")
SPACES = re.compile(r"\s+")
REVIEW = "<p>This film was <b>great</b>, see https://films.example/42 ... and watch it!</p>\n" * 30


def clean(text):
    text = LINKS.sub(" link ", TAGS.sub(" ", text.lower()))
    text = "".join(letter if letter.isalnum() else " " for letter in text)
    return SPACES.sub(" ", text).strip()


def encode(text, length=256):
    numbers = [hash(word) % 8191 + 1 for word in text.split()][:length]
    return torch.tensor(numbers + [0] * (length - len(numbers)))


class Reviews(Dataset):
    def __len__(self):
        return 25_000

    def __getitem__(self, index):
        return encode(clean(REVIEW[index % 80 :])), index % 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8192, 256)
        self.mixing = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
        self.head = nn.Linear(256, 2)

    def forward(self, tokens):
        return self.head(self.mixing(self.embedding(tokens)).mean(1))


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
loader = DataLoader(Reviews(), 64, shuffle=True, num_workers=2, pin_memory=True)
model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
started = time.time()
for step, (tokens, labels) in enumerate(loader, 1):
    output = model(tokens.cuda(non_blocking=True))
    loss = nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}")
    if time.time() - started > args.seconds:
        break
