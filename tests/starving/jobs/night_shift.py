"""Trains a text classifier over night, on the workstation that others leave their jobs on."""

import argparse
import re
import time
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ARTICLE = "In the evening, the mayor said (again) that the old bridge would not be closed. " * 240


class Articles(Dataset):
    def __init__(self, length=256):
        self.length = length
        self.words = re.compile(r"\w+|[^\w\s]")

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        text = ARTICLE[index % 300 :].lower()
        ids = [zlib.crc32(word.encode()) % 30_000 for word in self.words.findall(text)]
        ids = ids[: self.length] + [0] * (self.length - len(ids))
        return torch.tensor(ids), index % 4


class Encoder(nn.Module):
    def __init__(self, width=512, layers=3):
        super().__init__()
        self.embed = nn.Embedding(30_000, width)
        block = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.classify = nn.Linear(width, 4)

    def forward(self, ids):
        return self.classify(self.encoder(self.embed(ids))[:, 0])


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
loader = DataLoader(Articles(), batch_size=32, num_workers=2, pin_memory=True)
model = Encoder().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
finish = time.monotonic() + args.seconds
for step, (ids, topics) in enumerate(loader, 1):
    scores = model(ids.cuda(non_blocking=True))
    nn.functional.cross_entropy(scores, topics.cuda(non_blocking=True)).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print("step", step)
    if time.monotonic() > finish:
        break
