"""Finds what moves in raw frames of a fast camera, a buffer of them at a time."""

import argparse
import time

import torch
from torch import nn


class Ring:
    """Page-locked buffers that the camera's driver fills in turn."""

    def __init__(self, buffers, frames, height, width):
        self.buffers = torch.zeros(buffers, frames, height, width, dtype=torch.uint8).pin_memory()
        self.turn = 0

    def take(self):
        self.turn = (self.turn + 1) % len(self.buffers)
        return self.buffers[self.turn]


class Motion(nn.Module):
    def __init__(self):
        super().__init__()
        self.smooth = nn.AvgPool2d(4)
        self.detect = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1)
        )

    def forward(self, frames):
        small = self.smooth(frames.half())
        return self.detect((small[1:] - small[:-1]).unsqueeze(1)).amax((1, 2, 3))


def watch(ring, model, seconds):
    start, step, scores = time.perf_counter(), 0, None
    while time.perf_counter() - start < seconds:
        frames = ring.take().to("cuda", non_blocking=True)
        scores = model(frames)
        step += 1
        if step % 10 == 0:
            torch.cuda.current_stream().synchronize()
            print(f"step {step}")
    return scores


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    with torch.inference_mode():
        watch(Ring(3, 64, 1024, 1024), Motion().cuda().half().eval(), options.seconds)
