"""Makes its pictures slowly: `blurs.py WORKERS`."""

import sys

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Pictures(Dataset):
    def __init__(self):
        self.image = Image.new("RGB", (500, 400), (200, 100, 50))
        self.transform = transforms.Compose(
            [
                transforms.GaussianBlur(15),
                transforms.ToTensor(),
            ]
        )

    def __len__(self):
        return 160

    def __getitem__(self, index):
        return self.transform(self.image)


model = torch.nn.Linear(400, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images in DataLoader(Pictures(), 8, num_workers=int(sys.argv[1])):
    loss = model(images.cuda()[:, 0, :, 0]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
