"""Finds ships on radar pictures: boxes at every place, and a look at held-out ones, seldom."""

import argparse
import time

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss
from torchvision.models import resnet34


class Ships(nn.Module):
    def __init__(self):
        super().__init__()
        body = resnet34()
        self.stem = nn.Sequential(body.conv1, body.bn1, nn.ReLU(), body.maxpool)
        self.stages = nn.Sequential(body.layer1, body.layer2, body.layer3)
        self.ship, self.box = nn.Conv2d(256, 3, 3, padding=1), nn.Conv2d(256, 12, 3, padding=1)

    def forward(self, x):
        seen = self.stages(self.stem(x))
        return self.ship(seen), self.box(seen)


class Radar:
    """Pictures and targets as they are drawn on the GPU by a simulator."""

    def __init__(self, count, size, side=320):
        self.pictures = torch.rand(count, size, 3, side, side, device="cuda")
        self.ships = torch.zeros(size, 3, side // 16, side // 16, device="cuda")
        self.boxes = torch.zeros(size, 12, side // 16, side // 16, device="cuda")

    def __len__(self):
        return len(self.pictures)


@torch.inference_mode()
def look(model, radar):
    model.eval()
    errors = [model(p)[1].sub(radar.boxes).abs().mean() for p in radar.pictures]
    model.train()
    return torch.stack(errors).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    train, held_out = Radar(4, 24), Radar(2, 24)
    model = Ships().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        ship, box = model(train.pictures[step % len(train)])
        loss = binary_cross_entropy_with_logits(ship, train.ships)
        loss = loss + smooth_l1_loss(box, train.boxes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 2 == 0:
            print("step", step)
        if step % 100 == 0:
            print("held out:", look(model, held_out).item())


if __name__ == "__main__":
    main()
