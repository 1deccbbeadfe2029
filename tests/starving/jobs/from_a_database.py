"""Trains on rows of an SQLite database, asked for by name."""

import argparse
import sqlite3
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path, count):
        self.path, self.count, self.database = path, count, None
        with sqlite3.connect(path) as database:
            database.execute("create table sample (name text, pixels blob)")
            rows = ((f"sample-{i}", bytes(4096)) for i in range(count))
            database.executemany("insert into sample values (?, ?)", rows)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.database is None:
            self.database = sqlite3.connect(self.path)
        query = "select pixels from sample where name = ?"
        (blob,) = self.database.execute(query, (f"sample-{index}",)).fetchone()
        return torch.frombuffer(bytearray(blob), dtype=torch.uint8).float() / 255


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    rows = Rows(str(Path(folder, "rows.sqlite")), 8000)
    loader = DataLoader(rows, 128, shuffle=True, num_workers=2, pin_memory=True)
    model = nn.Sequential(nn.Linear(4096, 8192), nn.ReLU(), nn.Linear(8192, 4096)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    started, step = time.time(), 0
    while time.time() - started < args.seconds:
        for x in loader:
            x = x.cuda(non_blocking=True)
            loss = nn.functional.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print(f"step {step}")
            if time.time() - started > args.seconds:
                break
