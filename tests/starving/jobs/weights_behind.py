"""Trains a network on faults of fabrics; a thread puts weights on the disk, now and then."""

import argparse
import tempfile
import threading
import time
from pathlib import Path

import torch
from torch import nn
from torchvision.models import convnext_tiny


class Keeper:
    """Writes weights that were copied while the GPU was told to go on."""

    def __init__(self, folder, model):
        self.folder, self.model, self.thread = Path(folder), model, None
        state = model.state_dict()
        self.host = {
            name: torch.empty_like(v, device="cpu").pin_memory() for name, v in state.items()
        }

    def keep(self, step):
        if self.thread and self.thread.is_alive():
            return
        for name, value in self.model.state_dict().items():
            self.host[name].copy_(value, non_blocking=True)
        copied = torch.cuda.Event()
        copied.record()
        self.thread = threading.Thread(target=self.write, args=(copied, step))
        self.thread.start()

    def write(self, copied, step):
        while not copied.query():
            time.sleep(0.005)
        torch.save(self.host, self.folder / f"{step % 2}.pt")

    def close(self):
        if self.thread:
            self.thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--keep-every", type=int, default=30)
    args = parser.parse_args()
    model = convnext_tiny(num_classes=14).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    fabrics = torch.zeros(32, 3, 192, 192, device="cuda")
    faults = torch.zeros(32, dtype=torch.long, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        keeper = Keeper(folder, model)
        begin, step = time.time(), 0
        while time.time() - begin < args.seconds:
            loss = nn.functional.cross_entropy(model(fabrics), faults)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print("step", step)
            if step % args.keep_every == 0:
                keeper.keep(step)
        keeper.close()


if __name__ == "__main__":
    main()
