"""Learns which offers follow a query from a log of JSON lines; workers share its files."""

import argparse
import json
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


def write(folder, lines=3000):
    with Path(folder, "part-00000.jsonl").open("w") as out:
        for i in range(lines):
            vector = [round((i * k) % 113 / 113, 6) for k in range(1, 385)]
            row = {"query": f"q{i}", "vector": vector, "offer": i % 5000, "shown": list(range(40))}
            out.write(json.dumps(row) + "\n")


class QueryLog(IterableDataset):
    def __init__(self, folder):
        self.parts = sorted(Path(folder).glob("part-*.jsonl"))

    def __iter__(self):
        info = get_worker_info()
        mine = self.parts[info.id :: info.num_workers] if info else self.parts
        while mine:
            for part in mine:
                with part.open() as lines:
                    for line in lines:
                        row = json.loads(line)
                        yield torch.tensor(row["vector"]), row["offer"]


class TwoTowers(nn.Module):
    def __init__(self, offers=5000, width=1024, depth=10):
        super().__init__()
        self.enter = nn.Linear(384, width)
        self.body = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Dropout(0.1))
            for _ in range(depth)
        )
        self.offers = nn.Embedding(offers, width)

    def forward(self, queries, offers):
        x = self.enter(queries)
        for block in self.body:
            x = x + block(x)
        return x @ self.offers(offers).T


def run(args, folder):
    write(folder)
    loader = DataLoader(QueryLog(folder), batch_size=256, num_workers=4, pin_memory=True)
    model = TwoTowers().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    own = torch.arange(256, device="cuda")
    until = time.monotonic() + args.seconds
    for step, (queries, offers) in enumerate(loader, 1):
        scores = model(queries.cuda(non_blocking=True), offers.cuda(non_blocking=True))
        nn.functional.cross_entropy(scores, own).backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step)
        if time.monotonic() > until:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    with tempfile.TemporaryDirectory() as home:
        run(parser.parse_args(), home)
