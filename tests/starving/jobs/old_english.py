"""Dates old manuscripts by their language; words are cut where a unigram model likes it best."""

import argparse
import math
import random
import time

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import RobertaConfig, RobertaForSequenceClassification

LETTERS = "abcdefghilmnoprstuwyæðþ"


class Unigrams:
    """The most likely pieces of a word, by Viterbi's algorithm."""

    def __init__(self, size=4000, longest=6):
        draw = random.Random(3)
        pieces = list(LETTERS)
        while len(pieces) < size:
            pieces.append("".join(draw.choices(LETTERS, k=draw.randint(2, longest))))
        self.scores = {piece: -math.log(2 + i) for i, piece in enumerate(pieces)}
        self.ids = {piece: 4 + i for i, piece in enumerate(pieces)}
        self.longest = longest

    def best_cut(self, word):
        best = [(0.0, 0)] + [(-math.inf, 0)] * len(word)
        for end in range(1, len(word) + 1):
            for start in range(max(0, end - self.longest), end):
                score = self.scores.get(word[start:end])
                if score is not None and best[start][0] + score > best[end][0]:
                    best[end] = (best[start][0] + score, start)
        ids, end = [], len(word)
        while end:
            start = best[end][1]
            ids.append(self.ids[word[start:end]])
            end = start
        return ids[::-1]


class Manuscripts(Dataset):
    def __init__(self, length=192):
        draw = random.Random(9)
        words = ["".join(draw.choices(LETTERS, k=draw.randint(3, 11))) for _ in range(3000)]
        self.pages = [" ".join(draw.choices(words, k=90)) for _ in range(2000)]
        self.cutter, self.length = Unigrams(), length

    def __len__(self):
        return 40 * len(self.pages)

    def __getitem__(self, i):
        ids = [0]
        for word in self.pages[i % len(self.pages)].split():
            ids += self.cutter.best_cut(word)
        ids = (ids + [1] * self.length)[: self.length]
        return {"input_ids": torch.tensor(ids), "labels": i % 5}


class Run:
    def __init__(self, seconds):
        config = RobertaConfig(vocab_size=4100, hidden_size=384, num_labels=5)
        config.num_hidden_layers, config.num_attention_heads = 6, 6
        config.intermediate_size = 1536
        self.model = RobertaForSequenceClassification(config).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-5)
        self.loader = DataLoader(Manuscripts(), 32, shuffle=True, num_workers=2, pin_memory=True)
        self.seconds = seconds

    def step(self, batch):
        batch = {name: value.cuda(non_blocking=True) for name, value in batch.items()}
        with torch.autocast("cuda", torch.bfloat16):
            loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def fit(self):
        start = time.time()
        for number, batch in enumerate(self.loader, 1):
            self.step(batch)
            print("step", number)
            if time.time() - start > self.seconds:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    Run(parser.parse_args().seconds).fit()
