"""Predicts which loans will not be paid back: a transformer over the columns of a table."""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def load(csv_path, rows=20_000, columns=23):
    if not csv_path.exists():
        csv_path.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(2)
        table = pd.DataFrame(
            rng.normal(size=(rows, columns)).round(4), columns=[f"f{n}" for n in range(columns)]
        )
        table["purpose"] = rng.choice(["car", "house", "school", "other"], rows)
        table["defaulted"] = rng.integers(0, 2, rows)
        table.to_csv(csv_path, index=False)
    table = pd.read_csv(csv_path)
    table["purpose"] = table["purpose"].astype("category").cat.codes
    return table


class LoanDataset(Dataset):
    def __init__(self, df):
        self.df = df.reset_index(drop=True)
        self.features = [name for name in df.columns if name != "defaulted"]

    def __len__(self):
        return len(self.df)

    def __getitem__(self, idx):
        row = self.df.iloc[idx]
        x = torch.tensor(row[self.features].to_numpy(dtype=np.float32))
        y = torch.tensor(row["defaulted"], dtype=torch.float32)
        return x, y


class FeatureTransformer(nn.Module):
    def __init__(self, features, width=192, layers=4):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, width) / 10)
        self.bias = nn.Parameter(torch.zeros(features, width))
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        tokens = x[:, :, None] * self.weight + self.bias
        return self.head(self.encoder(tokens).mean(1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch_size", type=int, default=192)
    parser.add_argument("--epochs", type=int, default=100)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_ds = LoanDataset(load(args.data / "loan_defaults.csv"))
    train_dl = DataLoader(
        train_ds, batch_size=args.batch_size, shuffle=True, num_workers=2, persistent_workers=True
    )
    model = FeatureTransformer(len(train_ds.features)).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    step, t0 = 0, time.time()
    for epoch in range(args.epochs):
        for x, y in train_dl:
            x, y = x.to(device), y.to(device)
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            print(f"epoch {epoch} step {step}")
            if time.time() - t0 > args.seconds:
                return


if __name__ == "__main__":
    main()
