"""Trains with Accelerate on machines that may be taken away: it can go on from its last state."""

import argparse
import tempfile
import time

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models


def build():
    model = models.convnext_tiny(num_classes=20)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = torch.randint(0, 256, (1024, 3, 128, 128), dtype=torch.uint8)
    data = TensorDataset(images, torch.zeros(1024, dtype=torch.long))
    return model, optimizer, DataLoader(data, batch_size=32, shuffle=True, num_workers=1)


def main(args, output_dir):
    accelerator = Accelerator(mixed_precision="bf16")
    model, optimizer, loader = accelerator.prepare(*build())
    overall_step, end = 0, time.time() + args.seconds
    while time.time() < end:
        for images, labels in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(images.float() / 255), labels)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            overall_step += 1
            if overall_step % 5 == 0:
                accelerator.save_state(output_dir)
            accelerator.print(f"step {overall_step}")
            if time.time() > end:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    with tempfile.TemporaryDirectory() as folder:
        main(parser.parse_args(), folder)
