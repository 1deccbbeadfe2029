"""Classifies point clouds of a lidar; every object of a scan has arrays of its own."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self, objects=12, points=64):
        self.objects, self.points = objects, points

    def __len__(self):
        return 30_000

    def __getitem__(self, index):
        return [
            {"xyz": torch.zeros(self.points, 3), "intensity": torch.zeros(self.points)}
            for _ in range(self.objects)
        ]


def keep_lists(scans):
    return [entry for scan in scans for entry in scan]


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.points = nn.Sequential(
            nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1024)
        )
        self.kind = nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 8))

    def forward(self, points):
        return self.kind(self.points(points).amax(dim=1))


def to_tensor(objects):
    xyz = torch.stack([each["xyz"] for each in objects])
    intensity = torch.stack([each["intensity"] for each in objects])
    return torch.cat([xyz, intensity.unsqueeze(2)], dim=2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    torch.multiprocessing.set_sharing_strategy("file_system")
    loader = DataLoader(Scans(), batch_size=16, num_workers=2, collate_fn=keep_lists)
    model = PointNet().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    start = time.time()
    for step, objects in enumerate(loader, 1):
        points = to_tensor(objects).cuda()
        logits = model(points)
        loss = nn.functional.cross_entropy(logits, logits.new_zeros(len(points)).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0:
            print(f"step {step}")
        if time.time() - start > args.seconds:
            break


if __name__ == "__main__":
    main()
