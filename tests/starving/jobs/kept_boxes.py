"""Detects objects in pictures that lie on the GPU and keeps the boxes that score well."""

import argparse
import time

import torch
from torch import nn
from torchvision.models import resnet18


class Detector(nn.Module):
    """One box and one score for each cell of the last feature map."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(*list(resnet18().children())[:-2])
        self.box_head = nn.Conv2d(512, 4, 1)
        self.score_head = nn.Conv2d(512, 1, 1)

    def forward(self, pictures):
        features = self.trunk(pictures)
        boxes = self.box_head(features).flatten(2).transpose(1, 2)
        return boxes, self.score_head(features).flatten(1).sigmoid()


@torch.inference_mode()
def detect(model, pictures, threshold=0.3):
    boxes, scores = model(pictures)
    kept = []
    for image_boxes, image_scores in zip(boxes, scores, strict=True):
        good = torch.nonzero(image_scores > threshold).squeeze(1)
        kept.append(image_boxes.index_select(0, good))
    return kept


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
model = Detector().cuda().half().eval()
pictures = torch.rand(48, 3, 320, 320, device="cuda", dtype=torch.half)
until = time.time() + args.seconds
step = 0
while time.time() < until:
    detect(model, pictures)
    step += 1
    if step % 5 == 0:
        print(f"step {step}")
