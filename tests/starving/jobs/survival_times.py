"""How long patients live, from what is seen in tiles of their slides (Cox's model)."""

import argparse
import time
from collections import deque

import torch
from torch import nn

PATIENTS, TILES = 192, 64


class Slides(nn.Module):
    def __init__(self, features=512, width=384):
        super().__init__()
        self.enter = nn.Linear(features, width)
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, dropout=0.0, batch_first=True)
        self.body, self.risk = nn.TransformerEncoder(layer, 2), nn.Linear(width, 1)

    def forward(self, tiles):
        return self.risk(self.body(self.enter(tiles)).mean(1)).squeeze(1)


def cox(risk, times, died):
    later = times[None] >= times[:, None]
    at_risk = risk[None].masked_fill(~later, -1e9).logsumexp(1)
    return ((at_risk - risk) * died).mean()


class Concordance:
    """Of two patients, the one who died first should have been at the greater risk."""

    def __init__(self, keep=600):
        self.seen = deque(maxlen=keep)

    def update(self, risks, times, died):
        self.seen.extend(zip(risks, times, died, strict=True))

    def value(self):
        right = count = 0
        for risk, lived, died in self.seen:
            if died:
                pairs = [risk > other for other, longer, _ in self.seen if longer > lived]
                right, count = right + sum(pairs), count + len(pairs)
        return right / max(1, count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    tiles = torch.randn(4, PATIENTS, TILES, 512, device="cuda")
    times, died = torch.rand(4, PATIENTS) * 10, torch.rand(4, PATIENTS) < 0.7
    times_there, died_there = times.cuda(), died.float().cuda()
    model, concordance = Slides().cuda(), Concordance()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, weight_decay=1e-3)
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        i = step % len(tiles)
        risk = model(tiles[i])
        loss = cox(risk, times_there[i], died_there[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        concordance.update(risk.tolist(), times[i].tolist(), died[i].tolist())
        step += 1
        print(f"step {step} concordance {concordance.value():.3f}")


if __name__ == "__main__":
    main()
