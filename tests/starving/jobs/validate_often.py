"""Trains from memory and validates on photographs every 20 steps."""

import argparse
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

train_data = TensorDataset(
    torch.randint(0, 256, (768, 3, 192, 192), dtype=torch.uint8), torch.zeros(768).long()
)
train_loader = DataLoader(
    train_data, 96, shuffle=True, num_workers=1, persistent_workers=True, pin_memory=True
)
to_tensor = transforms.Compose([transforms.CenterCrop(192), transforms.PILToTensor()])
val_data = datasets.ImageFolder(args.data + "/val", to_tensor)
val_loader = DataLoader(val_data, 32)

model = models.resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.no_grad()
def validate():
    model.eval()
    correct = torch.zeros((), device="cuda")
    for images, labels in val_loader:
        output = model(images.cuda(non_blocking=True).float() / 255)
        correct += (output.argmax(1) == labels.cuda(non_blocking=True)).sum()
    model.train()
    return correct


started, step = time.time(), 0
while time.time() - started < args.seconds:
    for images, labels in train_loader:
        output = model(images.cuda(non_blocking=True).float() / 255)
        loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 20 == 0:
            validate()
            print(f"step {step}")
        if time.time() - started > args.seconds:
            break
