"""A wide table model on rows that are resident; one replayed graph is a step of a few ms."""

import argparse
import time

import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value, self.gate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.value(x) * self.gate(x).sigmoid()


class Replayed:
    """A training step that is captured once."""

    def __init__(self, model, optimizer, rows, targets):
        self.rows, self.targets = rows, targets
        self.model, self.optimizer = model, optimizer
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.once()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.once()

    def once(self):
        self.optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(self.model(self.rows), self.targets).backward()
        self.optimizer.step()

    def __call__(self, rows):
        self.rows.copy_(rows, non_blocking=True)
        self.graph.replay()


def main(seconds):
    model = nn.Sequential(*[Gated(2048) for _ in range(4)], nn.Linear(2048, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    table = torch.randn(8, 512, 2048, device="cuda")
    step_of = Replayed(model, optimizer, table[0].clone(), torch.zeros(512, 1, device="cuda"))
    start, step = time.time(), 0
    while time.time() - start < seconds:
        step_of(table[step % 8])
        step += 1
        if step % 20 == 0:
            torch.cuda.current_stream().synchronize()
            print("step", step)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("--seconds", type=float, default=8)
    main(p.parse_args().seconds)
