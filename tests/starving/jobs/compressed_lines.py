"""Trains on JSON lines in compressed files, read as a stream by two workers."""

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class JsonLines(IterableDataset):
    def __init__(self, files):
        self.files = files

    def __iter__(self):
        worker = get_worker_info()
        mine = self.files[worker.id :: worker.num_workers] if worker else self.files
        while True:
            for file in mine:
                with gzip.open(file, "rt") as lines:
                    for line in lines:
                        yield torch.tensor(json.loads(line)["values"])


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    files = []
    for number in range(4):
        files.append(Path(folder, f"{number}.json.gz"))
        rows = [json.dumps({"values": [(i * j) % 97 / 97 for j in range(4096)]}) for i in range(64)]
        with gzip.open(files[-1], "wt", compresslevel=3) as target:
            target.write("\n".join(rows) + "\n")
    loader = DataLoader(JsonLines(files), batch_size=256, num_workers=2, pin_memory=True)
    model = nn.Sequential(nn.Linear(4096, 8192), nn.ReLU(), nn.Linear(8192, 4096)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    started = time.time()
    for step, x in enumerate(loader, 1):
        x = x.cuda(non_blocking=True)
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.time() - started > args.seconds:
            break
