"""Trains a one-stage detector; each level of its pyramid has a loss of its own."""

import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import resnet18
from torchvision.models.feature_extraction import create_feature_extractor
from torchvision.ops import FeaturePyramidNetwork

LEVELS = ("layer1", "layer2", "layer3", "layer4")


class OneStage(nn.Module):
    def __init__(self, anchors=9, classes=20, width=128):
        super().__init__()
        self.body = create_feature_extractor(resnet18(), {level: level for level in LEVELS})
        self.fpn = FeaturePyramidNetwork([64, 128, 256, 512], width)
        self.classes = self.tower(width, anchors * classes)
        self.boxes = self.tower(width, anchors * 4)

    @staticmethod
    def tower(width, outputs):
        return nn.Sequential(
            *[nn.Conv2d(width, width, 3, padding=1), nn.ReLU()],
            nn.Conv2d(width, outputs, 3, padding=1),
        )

    def forward(self, images):
        pyramid = self.fpn(self.body(images)).values()
        return [(self.classes(level), self.boxes(level)) for level in pyramid]


def level_loss(scores, boxes):
    wanted = torch.zeros_like(scores)
    loss = F.binary_cross_entropy_with_logits(scores, wanted)
    for image, image_boxes in zip(wanted, boxes, strict=True):
        positive = image.amax(dim=0) > 0.5
        if positive.sum() > 0:
            loss = loss + F.smooth_l1_loss(image_boxes, torch.zeros_like(image_boxes))
    return loss


def detector_step(model, optimizer, images):
    total = 0
    for scores, boxes in model(images):
        total = total + level_loss(scores, boxes)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=12)
    args = parser.parse_args()
    model = OneStage().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.rand(args.batch, 3, 256, 256, device="cuda")
    step, until = 0, time.time() + args.seconds
    while time.time() < until:
        detector_step(model, optimizer, images)
        step += 1
        if step % 5 == 0:
            print(f"step {step}")


main()
