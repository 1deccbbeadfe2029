"""Pictures that people label; the database keeps count of how often each was learnt from."""

import argparse
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet50

SHAPE = (3, 112, 112)


def fill(path, count=200):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE picture (id INTEGER PRIMARY KEY, body BLOB, label INT, used INT)")
        body = np.arange(np.prod(SHAPE), dtype=np.uint8).tobytes()
        db.executemany(
            "INSERT INTO picture VALUES (?, ?, ?, 0)", [(i, body, i % 10) for i in range(count)]
        )


class Pictures(Dataset):
    def __init__(self, path, draws=100_000):
        self.path, self.draws, self.db = path, draws, None

    def __len__(self):
        return self.draws

    def open(self):
        self.db = sqlite3.connect(self.path, timeout=60, isolation_level=None)

    def __getitem__(self, index):
        if self.db is None:
            self.open()
        self.db.execute("BEGIN EXCLUSIVE")
        first = index % 170
        candidates = "SELECT id FROM picture WHERE id BETWEEN ? AND ? ORDER BY used LIMIT 1"
        chosen = self.db.execute(candidates, (first, first + 30)).fetchone()
        self.db.execute("UPDATE picture SET used = used + 1 WHERE id = ?", chosen)
        found = self.db.execute("SELECT body, label FROM picture WHERE id = ?", chosen).fetchone()
        self.db.execute("COMMIT")
        return torch.frombuffer(bytearray(found[0]), dtype=torch.uint8).view(SHAPE), found[1]


def run(data, seconds):
    model = resnet50(num_classes=10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(data, batch_size=16, num_workers=4, prefetch_factor=4, pin_memory=True)
    start = time.time()
    for step, (pictures, labels) in enumerate(loader):
        with torch.autocast("cuda", torch.bfloat16):
            scores = model(pictures.cuda(non_blocking=True).float().div_(255))
            loss = nn.functional.cross_entropy(scores, labels.cuda(non_blocking=True))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step)
        if time.time() - start >= seconds:
            break


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("data")
    cli.add_argument("--seconds", type=float, default=8)
    given = cli.parse_args()
    with tempfile.TemporaryDirectory() as home:
        database = str(Path(home, "pictures.db"))
        fill(database)
        run(Pictures(database), given.seconds)
