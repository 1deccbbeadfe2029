"""Classifies small pictures; the photographs that count are scored between rounds of training."""

import argparse
import time

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
parser.add_argument("--rounds-of", type=int, default=40)
args = parser.parse_args()

device = torch.device("cuda")


class Accuracy:
    def __init__(self):
        self.right = torch.zeros((), device=device)
        self.seen = 0

    def add(self, logits, labels):
        self.right += (logits.argmax(1) == labels).sum()
        self.seen += len(labels)


@torch.no_grad()
def score(model, photographs):
    model.eval()
    accuracy = Accuracy()
    for images, labels in photographs:
        accuracy.add(model(images.to(device)), labels.to(device))
    model.train()
    return accuracy


def main():
    model = models.resnet50(num_classes=2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    train_x = torch.randn(4 * 48, 3, 160, 160, device=device).split(48)
    train_y = torch.zeros(48, dtype=torch.long, device=device)
    resize = transforms.Compose([transforms.Resize((96, 96)), transforms.ToTensor()])
    photographs = DataLoader(datasets.ImageFolder(args.data + "/val", resize), 16, num_workers=2)
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        for turn in range(args.rounds_of):
            loss = F.cross_entropy(model(train_x[turn % 4]), train_y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                print(f"step {step} loss {loss.item():.3f}", flush=True)
        score(model, photographs)


if __name__ == "__main__":
    main()
