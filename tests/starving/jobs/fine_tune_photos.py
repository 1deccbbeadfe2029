"""Fine-tunes ResNet-18 on large photographs, with ImageFolder and two workers."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

crop = transforms.Compose([transforms.CenterCrop(224), transforms.ToTensor()])
dataset = datasets.ImageFolder(args.data + "/large", crop)
loader = DataLoader(dataset, 32, shuffle=True, num_workers=2, pin_memory=True, drop_last=True)

model = models.resnet18(num_classes=2).cuda()
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

step, started = 0, time.time()
while time.time() - started < args.seconds:
    for images, labels in loader:
        images = images.cuda(non_blocking=True)
        labels = labels.cuda(non_blocking=True)
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print(f"step {step}")
        if time.time() - started > args.seconds:
            break
