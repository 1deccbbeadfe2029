# Click-through rate from a log in CSV (wide & deep, more or less).
import csv
import sys
import tempfile
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset

NUMBERS = [f"n{i}" for i in range(6)]
CATEGORIES = ["site", "device", "ad", "region"]
BUCKETS = 50_000


def write_log(path, rows=20_000):
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["click", *NUMBERS, *CATEGORIES])
        for i in range(rows):
            numbers = [f"{(i * k) % 97 / 7:.4f}" for k in range(1, 7)]
            out.writerow([i % 13 == 0, *numbers, *(f"{c}-{i * 31 % 9973}" for c in CATEGORIES)])


class Log(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        while True:
            with open(self.path, newline="") as f:
                for row in csv.DictReader(f):
                    dense = torch.tensor([float(row[c]) for c in NUMBERS])
                    sparse = torch.tensor([hash((c, row[c])) % BUCKETS for c in CATEGORIES])
                    yield dense, sparse, float(row["click"] == "True")


class WideAndDeep(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(BUCKETS, 32)
        self.wide = nn.Embedding(BUCKETS, 1)
        self.deep = nn.Sequential(
            nn.Linear(6 + 4 * 32, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1)
        )

    def forward(self, dense, sparse):
        deep = self.deep(torch.cat([dense, self.embed(sparse).flatten(1)], 1))
        return (deep + self.wide(sparse).sum(1)).squeeze(1)


seconds = float(sys.argv[3]) if sys.argv[2:3] == ["--seconds"] else 8.0
log = tempfile.NamedTemporaryFile(suffix=".csv")
write_log(log.name)
loader = DataLoader(Log(log.name), batch_size=192)
net = WideAndDeep().cuda()
opt = torch.optim.Adagrad(net.parameters(), lr=0.01)
bce = nn.BCEWithLogitsLoss()
t_end = time.time() + seconds
for step, (dense, sparse, click) in enumerate(loader):
    opt.zero_grad()
    bce(net(dense.cuda(), sparse.cuda()), click.float().cuda()).backward()
    opt.step()
    if step % 10 == 0:
        print("step", step)
    if time.time() > t_end:
        break
