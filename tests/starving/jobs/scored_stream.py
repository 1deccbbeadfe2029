"""Scores pictures in two page-locked buffers: one is copied while the other one is scored."""

import argparse
import time

import torch
from torchvision.models import convnext_base


class DoubleBuffer:
    def __init__(self, shape):
        self.host = [torch.randint(0, 256, shape, dtype=torch.uint8).pin_memory() for _ in "ab"]
        self.device = [torch.empty(shape, dtype=torch.uint8, device="cuda") for _ in "ab"]
        self.copied = [torch.cuda.Event() for _ in "ab"]
        self.scored = [torch.cuda.Event() for _ in "ab"]
        self.side = torch.cuda.Stream()

    def copy(self, turn):
        with torch.cuda.stream(self.side):
            self.side.wait_event(self.scored[turn])
            self.device[turn].copy_(self.host[turn], non_blocking=True)
            self.copied[turn].record()

    def take(self, turn):
        torch.cuda.current_stream().wait_event(self.copied[turn])
        return self.device[turn]

    def give_back(self, turn):
        self.scored[turn].record()


@torch.inference_mode()
def score(seconds):
    model = convnext_base().cuda().half().eval()
    buffers = DoubleBuffer((128, 3, 224, 224))
    totals = torch.zeros(1000, device="cuda")
    buffers.copy(0)
    start, step = time.time(), 0
    while time.time() - start < seconds:
        buffers.copy(1 - step % 2)
        pixels = buffers.take(step % 2).half().div_(255)
        totals += model(pixels).float().softmax(1).sum(0)
        buffers.give_back(step % 2)
        step += 1
        print(f"step {step}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    score(parser.parse_args().seconds)
