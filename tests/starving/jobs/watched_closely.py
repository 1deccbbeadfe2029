"""Fine-tunes the head of a network and looks at held-out photographs now and then."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset
from torchvision.datasets import ImageFolder
from torchvision.models import resnet101
from torchvision.transforms import v2


def held_out(folder, count):
    prepare = v2.Compose(
        [v2.Resize(160), v2.CenterCrop(160), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
    )
    photos = ImageFolder(folder, prepare)
    return DataLoader(Subset(photos, range(count)), batch_size=16)


@torch.no_grad()
def accuracy(model, photos):
    model.eval()
    right = torch.zeros((), device="cuda")
    for images, labels in photos:
        right += (model(images.cuda()).argmax(1) == labels.cuda()).sum()
    model.train()
    return right / len(photos.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--look-every", type=int, default=20)
    args = parser.parse_args()
    model = resnet101(num_classes=2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = torch.rand(4, 24, 3, 160, 160, device="cuda")
    labels = torch.zeros(24, dtype=torch.long, device="cuda")
    photos, history = held_out(args.data + "/val", 48), []
    start, step = time.time(), 0
    while time.time() - start < args.seconds:
        loss = nn.functional.cross_entropy(model(images[step % 4]), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print("step", step)
        if step % args.look_every == 0:
            history.append(accuracy(model, photos))


if __name__ == "__main__":
    main()
