"""Predicts which book a reader takes next, from what the library's database says of them."""

import argparse
import random
import sqlite3
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BOOKS, READERS, HISTORY = 8000, 2500, 48


def library(path):
    if path.exists():
        return str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1455)
    rows = [
        (reader, rng.randrange(1, BOOKS), rng.randint(1, 5), rng.random())
        for reader in range(READERS)
        for _ in range(HISTORY + 1)
    ]
    rng.shuffle(rows)
    with sqlite3.connect(path) as database:
        for table in ("loans", "reservations", "fines"):
            database.execute(f"CREATE TABLE {table} (reader INT, book INT, stars INT, day REAL)")
            database.execute(f"CREATE INDEX of_{table} ON {table} (reader, day)")
        database.executemany("INSERT INTO loans VALUES (?, ?, ?, ?)", rows)
    return str(path)


class Loans(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 100 * READERS

    def __getitem__(self, i):
        connection = sqlite3.connect(self.path)
        rows = connection.execute(
            "SELECT book, stars FROM loans WHERE reader = ? ORDER BY day", (i % READERS,)
        ).fetchall()
        connection.close()
        books, stars = torch.tensor(rows).T
        return books[:HISTORY], stars[:HISTORY], books[HISTORY]


class NextBook(nn.Module):
    def __init__(self, width=256, layers=3):
        super().__init__()
        self.book, self.stars = nn.Embedding(BOOKS, width), nn.Embedding(6, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, layers)
        self.leave = nn.Linear(width, BOOKS)

    def forward(self, books, stars):
        return self.leave(self.body(self.book(books) + self.stars(stars)).mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=128)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loans = Loans(library(args.data / "book_ratings.db"))
    loader = DataLoader(loans, args.batch_size, shuffle=True, num_workers=2, pin_memory=True)
    model = NextBook().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    started = time.time()
    for step, (books, stars, following) in enumerate(loader, 1):
        scores = model(books.to(device, non_blocking=True), stars.to(device, non_blocking=True))
        loss = nn.functional.cross_entropy(scores, following.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
