"""A training step of ResNet-50 on 32 images, in plain floats: what the public trace
`tests/data/traces/resnet50_num_workers_4_worker0.1623212756351.json.gz` recorded on a V100, where
its kernels took 99.1 ms a step.

    unstarve emulate TRACE -- python bench/emulated/resnet50_step.py     durations from the trace
    unstarve emulate v100 -- python bench/emulated/resnet50_step.py      by the roofline
"""

from __future__ import annotations

import time

import torch
import torchvision

STEPS = 20


def main() -> None:
    torch.backends.cudnn.allow_tf32 = False
    model = torchvision.models.resnet50().cuda()
    images = torch.zeros(32, 3, 224, 224, device="cuda")
    labels = torch.zeros(32, dtype=torch.long, device="cuda")
    # The profiler's release is of 2021: optimisers took a tensor at a time.
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    milliseconds = (time.perf_counter() - start) / STEPS * 1e3
    print(f"{torch.cuda.get_device_name()}: {milliseconds:.1f} ms a step")


if __name__ == "__main__":
    main()
