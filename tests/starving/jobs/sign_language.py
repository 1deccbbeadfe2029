"""Reads single signs of sign language from clips that are folders of frames."""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet18

SIGNS, FRAMES, STRIDE = 20, 32, 4


def film(folder, clips=40, size=(176, 144)):
    draw = np.random.default_rng(26)
    for clip in range(clips):
        target = folder / f"clip{clip:03}"
        target.mkdir(parents=True, exist_ok=True)
        hands = draw.integers(0, 255, (9, 11, 3), dtype=np.uint8)
        for frame in range(FRAMES):
            if not (target / f"{frame:03}.jpg").exists():
                moved = Image.fromarray(np.roll(hands, frame // 2, 1)).resize(size, Image.BICUBIC)
                moved.save(target / f"{frame:03}.jpg", quality=92)
    return sorted(folder.glob("clip*"))


class SignDataset(Dataset):
    def __init__(self, clips, stride=STRIDE):
        self.clips, self.stride = clips, stride

    def __len__(self):
        return 200 * len(self.clips)

    def load_frame(self, path):
        with Image.open(path) as frame:
            return torch.from_numpy(np.array(frame.convert("RGB").resize((112, 112))))

    def __getitem__(self, i):
        clip = self.clips[i % len(self.clips)]
        frames = [self.load_frame(path) for path in sorted(clip.glob("*.jpg"))]
        video = torch.stack(frames)[:: self.stride]
        return video.permute(0, 3, 1, 2), i % SIGNS


class SignNet(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.frame = resnet18()
        self.frame.fc = nn.Identity()
        self.time, self.sign = nn.GRU(width, width, batch_first=True), nn.Linear(width, SIGNS)

    def forward(self, video):
        seen = self.frame(video.flatten(0, 1)).unflatten(0, video.shape[:2])
        return self.sign(self.time(seen)[0].mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=6)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    signs = SignDataset(film(args.data / "sign_language"))
    loader = DataLoader(signs, args.batch_size, shuffle=True, num_workers=2, pin_memory=True)
    net = SignNet().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4)
    start = time.time()
    for step, (video, sign) in enumerate(loader, 1):
        video = video.to(device, non_blocking=True).float() / 255
        loss = nn.functional.cross_entropy(net(video), sign.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() - start > args.seconds:
            break


if __name__ == "__main__":
    main()
