"""Imitates an expert with a small policy, whose calls are captured as CUDA graphs."""

import argparse
import time

import torch
from torch import nn

ENVS, OBSERVATION, ACTIONS = 16, 96, 12


def policy():
    sizes = [OBSERVATION, *[256] * 10]
    hidden = []
    for a, b in zip(sizes, sizes[1:], strict=False):
        hidden += [nn.Linear(a, b), nn.LayerNorm(b), nn.SiLU()]
    return nn.Sequential(*hidden, nn.Linear(256, ACTIONS))


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

net = policy().cuda()
observation = torch.randn(ENVS, OBSERVATION, device="cuda")
expert = torch.randn(ENVS, ACTIONS, device="cuda")
adam = torch.optim.Adam(net.parameters(), lr=1e-4, capturable=True)


def imitate():
    for _ in range(8):
        adam.zero_grad(set_to_none=False)
        nn.functional.mse_loss(net(observation), expert).backward()
        adam.step()


warm_up = torch.cuda.Stream()
warm_up.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm_up):
    imitate()
torch.cuda.current_stream().wait_stream(warm_up)
eight_steps = torch.cuda.CUDAGraph()
with torch.cuda.graph(eight_steps):
    imitate()
start, step = time.monotonic(), 0
while time.monotonic() - start < args.seconds:
    eight_steps.replay()
    step += 8
    if step % 400 == 0:
        torch.cuda.current_stream().synchronize()
        print(f"step {step}")
