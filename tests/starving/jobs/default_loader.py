"""Learns two classes of photographs, as in a first course."""

import argparse
import time
from pathlib import Path

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, read_image
from torchvision.models import mobilenet_v3_large
from torchvision.transforms.functional import resize

device = "cuda" if torch.cuda.is_available() else "cpu"


class CustomImageDataset(Dataset):
    def __init__(self, img_dir):
        self.img_paths = [p for p in Path(img_dir).rglob("*.jpg")]
        self.img_labels = [0 if p.parent.name == "cat" else 1 for p in self.img_paths]

    def __len__(self):
        return len(self.img_labels)

    def __getitem__(self, idx):
        image = read_image(str(self.img_paths[idx]), ImageReadMode.RGB)
        image = resize(image, [160, 160])
        return image / 255.0, self.img_labels[idx]


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()

training_data = CustomImageDataset(args.data + "/train")
train_dataloader = DataLoader(training_data, batch_size=32, shuffle=True)
model = mobilenet_v3_large(num_classes=2).to(device)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

start = time.time()
step = 0
epoch = 0
while time.time() - start < args.seconds:
    print(f"Epoch {epoch + 1}\n-------------------------------")
    model.train()
    for X, y in train_dataloader:
        X, y = X.to(device), y.to(device)
        pred = model(X)
        loss = loss_fn(pred, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        print(f"step {step}")
        if time.time() - start > args.seconds:
            break
    epoch += 1
