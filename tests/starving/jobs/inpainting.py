"""Teaches a diffusion model to fill holes in large photographs."""

import argparse
import time
from pathlib import Path

import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms.functional import pil_to_tensor


class LargePhotos(Dataset):
    def __init__(self, root, size):
        self.paths, self.size = list(Path(root).glob("*/*.jpg")) * 100, size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        photo = Image.open(self.paths[index]).convert("RGB")
        side = min(photo.size)
        return pil_to_tensor(photo.crop((0, 0, side, side)).resize((self.size, self.size)))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.net = nn.Sequential(nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, c, 3, padding=1))
        self.when = nn.Linear(64, c)

    def forward(self, x, t):
        return x + self.net(x + self.when(t)[:, :, None, None])


class Denoiser(nn.Module):
    def __init__(self, c=512, depth=12):
        super().__init__()
        self.stem, self.head = nn.Conv2d(7, c, 4, 4), nn.ConvTranspose2d(c, 3, 4, 4)
        self.blocks = nn.ModuleList(Block(c) for _ in range(depth))

    def forward(self, noisy, known, hole, t):
        x = self.stem(torch.cat([noisy, known, hole], dim=1))
        for block in self.blocks:
            x = block(x, t)
        return self.head(x)


def training_loss(model, photos):
    clean = photos.float() / 127.5 - 1
    hole = torch.zeros_like(clean[:, :1])
    hole[:, :, 64:160, 64:160] = 1
    noise, t = torch.randn_like(clean), torch.rand(len(clean), 64, device=clean.device)
    return nn.functional.mse_loss(model(clean + noise, clean * (1 - hole), hole, t), noise)


def main(args):
    model = Denoiser().cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    dataset = LargePhotos(args.data + "/large", 256)
    loader = DataLoader(dataset, args.batch, shuffle=True, num_workers=1, pin_memory=True)
    t0 = time.time()
    for step, photos in enumerate(loader, 1):
        loss = training_loss(model, photos.cuda(non_blocking=True))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        print(f"step {step}")
        if time.time() - t0 > args.seconds:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=16)
    main(parser.parse_args())
