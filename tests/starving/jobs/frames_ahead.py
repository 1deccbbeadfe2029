"""Recognises actions in video: two threads read frames, the network sees clips of eight."""

import argparse
import queue
import threading
import time
from collections import deque
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torchvision.models import resnet18


class FrameReader:
    """An iterator over clips that are made in the background."""

    def __init__(self, frames, clips_per_batch=2, threads=2, depth=6):
        self.frames, self.clips = frames, clips_per_batch
        self.ready = queue.Queue(depth)
        self.stopped = threading.Event()
        for number in range(threads):
            threading.Thread(target=self.work, args=(number,), daemon=True).start()

    def read(self, path):
        frame = Image.open(path)
        return np.asarray(frame.convert("RGB").resize((128, 128), Image.Resampling.BILINEAR))

    def work(self, place):
        window = deque(maxlen=8)
        while not self.stopped.is_set():
            clips = []
            while len(clips) < self.clips:
                window.append(self.read(self.frames[place % len(self.frames)]))
                place += 2
                if len(window) == 8:
                    clips.append(np.stack(window))
                    window.clear()
            self.ready.put(np.stack(clips))

    def __iter__(self):
        return self

    def __next__(self):
        return torch.from_numpy(self.ready.get()).cuda()


class ActionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.frame = resnet18(num_classes=256)
        self.time = nn.GRU(256, 256, batch_first=True)
        self.action = nn.Linear(256, 51)

    def forward(self, clips):
        n, t = clips.shape[:2]
        features = self.frame(clips.flatten(0, 1).permute(0, 3, 1, 2).float() / 255)
        return self.action(self.time(features.view(n, t, -1))[1][0])


p = argparse.ArgumentParser()
p.add_argument("data")
p.add_argument("--seconds", type=float, default=8)
a = p.parse_args()
reader = FrameReader(sorted(Path(a.data, "train").rglob("*.jpg")))
net = ActionNet().cuda()
adam = torch.optim.Adam(net.parameters())
until = time.time() + a.seconds
for step, clips in enumerate(reader, 1):
    scores = net(clips)
    nn.functional.cross_entropy(scores, scores.new_zeros(len(clips), dtype=torch.long)).backward()
    adam.step()
    adam.zero_grad()
    print("step", step)
    if time.time() > until:
        reader.stopped.set()
        break
