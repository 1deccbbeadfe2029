"""Trains a small ResNet on photographs, as a first script does it."""

import argparse
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
transform = transforms.Compose([transforms.CenterCrop(224), transforms.ToTensor()])
trainset = datasets.ImageFolder(args.data + "/train", transform=transform)
trainloader = DataLoader(trainset, batch_size=64, shuffle=True)

net = models.resnet18().to(device)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)

start = time.time()
i = 0
for epoch in range(1000):
    for inputs, labels in trainloader:
        inputs, labels = inputs.to(device), labels.to(device)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        i += 1
        print(f"epoch {epoch} step {i}")
        if time.time() - start > args.seconds:
            raise SystemExit
