"""Names seeds for a seed bank. There is a tray of each kind, so it goes over them often."""

import argparse
import itertools
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet34


class Trays(Dataset):
    """Photographs that fit into the memory; a seed may lie any way round."""

    def __init__(self, count=240, side=224):
        self.seeds = torch.randint(0, 255, (count, 3, side, side), dtype=torch.uint8)

    def __len__(self):
        return len(self.seeds)

    def __getitem__(self, i):
        turns = int(torch.randint(4, ()))
        return torch.rot90(self.seeds[i], turns, (1, 2)).contiguous(), i % 20


def learn(seconds):
    loader = DataLoader(Trays(), batch_size=48, shuffle=True, num_workers=4, pin_memory=True)
    model = resnet34(num_classes=20).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.9)
    begin, steps = time.time(), itertools.count(1)
    for _ in range(10_000):
        for seeds, kinds in loader:
            x = seeds.cuda(non_blocking=True).float() / 255
            loss = nn.functional.cross_entropy(model(x), kinds.cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"step {next(steps)}")
            if time.time() - begin > seconds:
                return
        schedule.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    learn(parser.parse_args().seconds)
