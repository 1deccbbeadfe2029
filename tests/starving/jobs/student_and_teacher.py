"""A small network learns from a large one; the memory of both has to last."""

import argparse
import gc
import time
from contextlib import contextmanager

import torch
from torch import nn
from torchvision.models import mobilenet_v2, resnet101


@contextmanager
def tidy_memory():
    try:
        yield
    finally:
        gc.collect()


class Distillation:
    def __init__(self, temperature):
        self.temperature = temperature
        self.teacher = resnet101().cuda().half().eval().requires_grad_(False)
        self.student = mobilenet_v2().cuda()
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.05, momentum=0.9)
        self.catalogue = {i: {"name": f"picture {i}", "tags": [i % 7]} for i in range(60_000)}

    def loss(self, images):
        with torch.no_grad():
            soft = (self.teacher(images.half()).float() / self.temperature).softmax(1)
        scores = self.student(images) / self.temperature
        return nn.functional.kl_div(scores.log_softmax(1), soft, reduction="batchmean")

    def step(self, images):
        with tidy_memory():
            self.optimizer.zero_grad()
            self.loss(images).backward()
            self.optimizer.step()


def main(args):
    torch.backends.cudnn.benchmark = False
    run = Distillation(temperature=4.0)
    images = torch.randn(4 * 32, 3, 160, 160, device="cuda").split(32)
    began, step = time.monotonic(), 0
    while time.monotonic() - began < args.seconds:
        run.step(images[step % 4])
        step += 1
        print(f"step {step}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    main(parser.parse_args())
