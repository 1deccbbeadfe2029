"""Completes baskets of a web shop: two towers over large tables of shoppers and goods."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

SHOPPERS, GOODS, BASKET = 100_000, 20_000, 30


class Baskets(Dataset):
    """Looked up by a list of rows, so that a batch is one slice of each table."""

    def __init__(self, count=60_000):
        self.goods = torch.randint(0, GOODS, (count, BASKET), dtype=torch.int32)
        self.shopper = torch.randint(0, SHOPPERS, (count,), dtype=torch.int32)
        self.added = torch.randint(0, GOODS, (count,), dtype=torch.int32)

    def __len__(self):
        return len(self.goods)

    def __getitem__(self, rows):
        return self.shopper[rows], self.goods[rows], self.added[rows]


class Towers(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.shopper = nn.Embedding(SHOPPERS, 64)
        self.goods = nn.EmbeddingBag(GOODS, width, mode="mean")
        self.net = nn.Sequential(
            nn.Linear(width + 64, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU()
        )
        self.score = nn.Linear(2048, GOODS)

    def forward(self, shopper, goods):
        return self.score(self.net(torch.cat((self.shopper(shopper), self.goods(goods)), 1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    baskets = Baskets()
    rows = BatchSampler(RandomSampler(baskets), 1536 if device == "cuda" else 64, drop_last=True)
    loader = DataLoader(
        baskets,
        sampler=rows,
        batch_size=None,
        num_workers=1,
        pin_memory=True,
        persistent_workers=True,
    )
    towers = Towers().to(device)
    optimizer = torch.optim.SGD(towers.parameters(), lr=0.1)
    step, end = 0, time.time() + args.seconds
    while time.time() < end:
        for batch in loader:
            shopper, goods, added = (part.to(device, non_blocking=True) for part in batch)
            loss = nn.functional.cross_entropy(towers(shopper, goods), added.long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print("step", step)
            if step % 100 == 0:
                print(f"loss {loss.item():.3f}")
            if time.time() > end:
                break


if __name__ == "__main__":
    main()
