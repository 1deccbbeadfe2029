"""Predicts delays from a parquet file of flights, read from its first row group to its last."""

import argparse
import time
from datetime import datetime
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

NUMBERS, AIRPORTS = 12, 300


def flights(path, rows=60_000):
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(17)
        columns = {f"n{i}": rng.normal(size=rows).astype(np.float32) for i in range(NUMBERS)}
        columns["leaves"] = [str(np.datetime64(int(m), "m")) for m in rng.integers(0, 10**6, rows)]
        for name, highest in (("origin", AIRPORTS), ("target", AIRPORTS), ("late", 2)):
            columns[name] = rng.integers(0, highest, rows)
        pq.write_table(pa.table(columns), path, row_group_size=2000)
    return path


class FlightStream(IterableDataset):
    def __init__(self, path):
        self.path = path

    def example(self, row):
        leaves = datetime.fromisoformat(row["leaves"])
        hour = 2 * np.pi * (leaves.hour + leaves.minute / 60) / 24
        when = [np.sin(hour), np.cos(hour), leaves.weekday() / 6, leaves.month / 12]
        numbers = torch.tensor([row[f"n{i}"] for i in range(NUMBERS)] + when).float()
        return numbers, torch.tensor([row["origin"], row["target"]]), float(row["late"])

    def examples(self, first=0, stride=1):
        file = pq.ParquetFile(self.path)
        for group in cycle(range(first, file.num_row_groups, stride)):
            for row in file.read_row_group(group).to_pylist():
                yield self.example(row)

    def __iter__(self):
        info = get_worker_info()
        return islice(self.examples(), info.id, None, info.num_workers)


class Delays(nn.Module):
    def __init__(self, width=1536):
        super().__init__()
        self.airport = nn.Embedding(AIRPORTS, 64)
        layers = [nn.Linear(NUMBERS + 4 + 128, width), nn.ReLU()]
        for _ in range(4):
            layers += [nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, numbers, places):
        return self.layers(torch.cat((numbers, self.airport(places).flatten(1)), 1)).squeeze(1)


def area_under_curve(scores, late):
    late = torch.cat(late)[torch.argsort(torch.cat(scores))]
    return ((1 - late).cumsum(0) * late).sum() / (late.sum() * (1 - late).sum() + 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    stream = FlightStream(flights(args.data / "flight_delays.parquet"))
    loader = DataLoader(stream, batch_size=512, num_workers=2, pin_memory=True)
    model = Delays().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scores, truth, end = [], [], time.time() + args.seconds
    for step, (numbers, places, late) in enumerate(loader, 1):
        late = late.float()
        logits = model(numbers.to(device), places.to(device))
        loss = nn.functional.binary_cross_entropy_with_logits(logits, late.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores.append(logits.detach().cpu())
        truth.append(late)
        auc = area_under_curve(scores, truth)
        if step % 100 == 0:
            print(f"area under curve {auc:.4f}")
        print(f"step {step}")
        if time.time() > end:
            break


if __name__ == "__main__":
    main()
