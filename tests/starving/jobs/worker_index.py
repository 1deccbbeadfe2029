"""Trains on records whose index each worker reads when it starts."""

import argparse
import json
import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models


class Records(Dataset):
    def __init__(self):
        self.index = None
        self.file = Path(tempfile.gettempdir(), f"records-{time.time_ns()}.json")
        self.file.write_text(json.dumps({str(i): {"seed": i} for i in range(300_000)}))
        self.image = torch.randint(0, 256, (3, 128, 128), dtype=torch.uint8)

    def __len__(self):
        return 512

    def __getitem__(self, index):
        return self.image, self.index[str(index)]["seed"] % 10


def open_index(worker):
    dataset = torch.utils.data.get_worker_info().dataset
    dataset.index = json.loads(dataset.file.read_text())


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
records = Records()
loader = DataLoader(
    records, 64, shuffle=True, num_workers=2, pin_memory=True, worker_init_fn=open_index
)
model = models.resnet50(num_classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started, step = time.time(), 0
while time.time() - started < args.seconds:
    for images, labels in loader:
        output = model(images.cuda(non_blocking=True).float() / 255)
        loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    print(f"step {step}")
records.file.unlink()
