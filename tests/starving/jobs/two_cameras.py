"""Trains on two GPUs, one for each camera of a rig; the cameras write photographs of their own."""

import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.models import resnet18
from torchvision.transforms.functional import center_crop

FOLDERS = ("val", "large")


class Camera(Dataset):
    def __init__(self, folder):
        self.shots = sorted(str(shot) for shot in Path(folder).rglob("*.jpg")) * 300

    def __len__(self):
        return len(self.shots)

    def __getitem__(self, index):
        shot = decode_jpeg(read_file(self.shots[index]), ImageReadMode.RGB)
        return center_crop(shot, [224, 224]), int("/dog/" in self.shots[index])


class Rig:
    def __init__(self, args):
        dist.init_process_group("nccl")
        self.rank, self.device = dist.get_rank(), int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(self.device)
        self.model = DistributedDataParallel(resnet18(num_classes=2).cuda())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02)
        camera = Camera(Path(args.data, FOLDERS[self.rank]))
        self.loader = DataLoader(camera, 8, shuffle=True, num_workers=1, pin_memory=True)
        self.until = time.time() + args.seconds

    def over(self):
        late = [time.time() > self.until]
        dist.broadcast_object_list(late)
        return late[0]

    def train(self):
        for step, (shots, kinds) in enumerate(self.loader, 1):
            shots, kinds = shots.cuda(non_blocking=True), kinds.cuda(non_blocking=True)
            loss = torch.nn.functional.cross_entropy(self.model(shots / 255), kinds)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.rank == 0:
                print(f"step {step}")
            if step % 4 == 0 and self.over():
                break
        dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    Rig(parser.parse_args()).train()
