"""Two GPUs learn what customers write about; each rank has the letters of one language."""

import argparse
import os
import random
import time
import zlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

STEMS = ["dampf", "schiff", "fahrt", "kapitän", "mütze", "haus", "tür", "schlüssel", "bund", "amt"]


def plain(word):
    return [zlib.crc32(word.encode()) % 6000]


def compound(word, stems=frozenset(STEMS)):
    """German words are many words in one: the cut with the fewest parts is the best."""
    fewest = [[]] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            if fewest[start] is not None and word[start:end] in stems:
                parts = fewest[start] + plain(word[start:end])
                if fewest[end] is None or len(parts) < len(fewest[end]):
                    fewest[end] = parts
    return fewest[-1] or [1]


class Letters(Dataset):
    def __init__(self, language, length=128):
        draw = random.Random(language)
        self.split, self.length = {"en": plain, "de": compound}[language], length
        words = ["".join(draw.choices(STEMS, k=draw.randint(1, 5))) for _ in range(2000)]
        self.letters = [draw.choices(words, k=60) for _ in range(500)]

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        ids = [part for word in self.letters[i % 500] for part in self.split(word)]
        return torch.tensor((ids + [0] * self.length)[: self.length]), i % 6


class Topics(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.words = nn.Embedding(6000, width)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True)
        self.body, self.topic = nn.TransformerEncoder(layer, 4), nn.Linear(width, 6)

    def forward(self, ids):
        return self.topic(self.body(self.words(ids)).mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--languages", nargs=2, default=["en", "de"])
    args = parser.parse_args()
    dist.init_process_group("nccl")
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    letters = Letters(args.languages[rank])
    loader = DataLoader(letters, batch_size=48, num_workers=1, pin_memory=True)
    model = DistributedDataParallel(Topics().cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    end, stop = time.time() + args.seconds, [False]
    for step, (ids, topics) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(ids.cuda()), topics.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print("step", step)
        if step % 4 == 0:
            stop = [time.time() > end]
            dist.broadcast_object_list(stop)
        if stop[0]:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
