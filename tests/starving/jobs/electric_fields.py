"""Electric potentials in a body, for many pairs of electrodes at once, by conjugate gradients."""

import argparse
import time

import torch


class Body:
    """What flows between the elements of a body; every frame has other currents."""

    def __init__(self, elements, device):
        self.conducts = torch.eye(elements, device=device)

    def potentials(self, currents, rounds):
        found = torch.zeros_like(currents)
        rest, way = currents.clone(), currents.clone()
        left = rest.square().sum()
        for _ in range(rounds):
            flow = self.conducts @ way
            length = (left / (way * flow).sum()).item()
            found.add_(way, alpha=length)
            rest.sub_(flow, alpha=length)
            before, left = left, rest.square().sum()
            way = rest + left / before * way
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--elements", type=int, default=6144)
    parser.add_argument("--pairs", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=32)
    args = parser.parse_args()
    device = torch.device("cuda")
    body = Body(args.elements, device)
    average = torch.zeros(args.elements, args.pairs, device=device)
    started, frame = time.time(), 0
    with torch.no_grad():
        while time.time() - started < args.seconds:
            currents = torch.randn(args.elements, args.pairs, device=device)
            average.lerp_(body.potentials(currents, args.rounds), 0.1)
            frame += 1
            print("step", frame)
    print("average", average.mean().item())


if __name__ == "__main__":
    main()
