"""Scores passages for questions; every answer goes to a file for the reviewers."""

import argparse
import json
import os
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PASSAGE = "A bridge is a structure built to span a physical obstacle without blocking the way. "


class Questions(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return 200_000

    def shingles(self, text):
        return [sum(map(ord, text[i : i + 4])) * 7919 % 20_000 for i in range(len(text) - 4)]

    def __getitem__(self, index):
        text = (PASSAGE * 12)[index % 60 :].lower()
        ids = self.shingles(text)[: self.length]
        return {"index": index, "ids": torch.tensor(ids), "text": text}


class Scorer(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, batch_first=True)
        self.words, self.body = nn.Embedding(20_000, width), nn.TransformerEncoder(layer, 6)
        self.relevant = nn.Linear(width, 2)

    def forward(self, ids):
        return self.relevant(self.body(self.words(ids)).mean(1)).softmax(1)


class Reviewers:
    def __init__(self, path):
        self.file = open(path, "a")

    def write(self, batch, scores):
        for index, text, (no, yes) in zip(batch["index"], batch["text"], scores, strict=True):
            answer = {"id": int(index), "passage": text, "no": no, "yes": yes, "at": time.time()}
            print(json.dumps(answer, indent=2, sort_keys=True), file=self.file)
            self.file.flush()
            os.fsync(self.file.fileno())


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
scorer = Scorer().cuda().eval()
questions = DataLoader(Questions(length=192), batch_size=32, pin_memory=True)
with tempfile.NamedTemporaryFile() as file, torch.inference_mode():
    reviewers, until = Reviewers(file.name), time.time() + args.seconds
    for step, batch in enumerate(questions, 1):
        scores = scorer(batch["ids"].cuda(non_blocking=True))
        reviewers.write(batch, scores.tolist())
        print("step", step)
        if time.time() > until:
            break
