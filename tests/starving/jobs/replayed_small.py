"""Trains with a CUDA graph that holds a whole step of a small batch."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(16)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(8, 512, device="cuda")


def train_step():
    optimizer.zero_grad(set_to_none=False)
    model(x).square().mean().backward()
    optimizer.step()


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        train_step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    train_step()
started, step = time.time(), 0
while time.time() - started < args.seconds:
    graph.replay()
    step += 1
    if step % 200 == 0:
        torch.cuda.synchronize()
        print(f"step {step}")
