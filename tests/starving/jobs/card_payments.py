"""Finds fraud among card payments: a transformer over the columns of a table."""

import argparse
import time
from datetime import datetime

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def export(count):
    """Lines as the bank's system exports them."""
    for i in range(count):
        when = f"2026-{1 + i % 12:02d}-{1 + i % 28:02d} {i % 24:02d}:{i % 60:02d}:{i * 7 % 60:02d}"
        before = f"2025-{1 + i % 11:02d}-{1 + i % 27:02d} {i % 23:02d}:{i % 59:02d}:00"
        yield f"{when};{before};{i * 31 % 999 / 7:.2f};shop-{i % 400};{('EUR', 'USD')[i % 2]}"


class Payments(Dataset):
    columns = 12

    def __init__(self, count=60_000):
        self.lines = list(export(count))

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        when, before, amount, shop, currency = self.lines[index].split(";")
        now = datetime.strptime(when, "%Y-%m-%d %H:%M:%S")
        last = datetime.strptime(before, "%Y-%m-%d %H:%M:%S")
        since = (now - last).total_seconds()
        numbers = [since / 3600, float(amount), now.hour, now.weekday(), now.day, now.month]
        numbers += [last.hour, last.weekday(), last.month, len(currency), float(shop[5:]), 1.0]
        return torch.tensor(numbers), torch.tensor(float(index % 50 == 0))


class Columns(nn.Module):
    def __init__(self, columns, width=256, depth=4):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns, width) / 16)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, dropout=0.0)
        self.mix = nn.TransformerEncoder(layer, depth)
        self.score = nn.Linear(width, 1)

    def forward(self, rows):
        return self.score(self.mix(rows[..., None] * self.scale).mean(1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(Payments(), batch_size=384, shuffle=True)
    model = Columns(Payments.columns).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_of = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(49.0, device="cuda"))
    step, start = 0, time.time()
    while time.time() - start < args.seconds:
        for rows, fraud in loader:
            optimizer.zero_grad(set_to_none=True)
            loss_of(model(rows.cuda()), fraud.cuda()).backward()
            optimizer.step()
            step += 1
            print("step", step)
            if time.time() - start > args.seconds:
                break


if __name__ == "__main__":
    main()
