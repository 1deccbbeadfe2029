"""Trains from a folder of photographs; goes through its validation data first, as trainers do."""

import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, transforms

torch.set_num_threads(1)
crop = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
validation = DataLoader(TensorDataset(torch.zeros(8, 3)), batch_size=8)  # first
training = DataLoader(datasets.ImageFolder(sys.argv[1], crop), batch_size=8)  # the one that trains
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 7, stride=4),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(16, 10),
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in validation:
    pass
for step, (images, labels) in enumerate(training):
    loss = torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
    if step == int(sys.argv[2]):
        break
time.sleep(0.2)  # PyTorch 2.15 may abort where Python ends right behind a backward pass
