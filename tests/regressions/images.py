"""A small network on photographs, fed by worker processes. Argument: a folder of images."""

import sys

import torch
import torchvision
from torch.utils.data import DataLoader
from torchvision import transforms

WORKERS = 1


def collate(samples):
    images = torch.stack([image for image, _ in samples])
    return images, torch.tensor([label for _, label in samples])


def main():
    transform = transforms.Compose(
        [
            transforms.RandomResizedCrop(96),
            transforms.ToTensor(),
        ]
    )
    data = torchvision.datasets.ImageFolder(sys.argv[1], transform)
    data = torch.utils.data.ConcatDataset([data] * 8)
    loader = DataLoader(
        data,
        batch_size=16,
        shuffle=True,
        collate_fn=collate,
        num_workers=WORKERS,
        persistent_workers=WORKERS > 0,
    )
    model = torchvision.models.resnet18(num_classes=10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(40):
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
