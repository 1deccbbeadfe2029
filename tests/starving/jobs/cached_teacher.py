"""Distils a language model; what the teacher said was computed once and lies in memory."""

import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn


class Cache:
    """Logits of the teacher, batch by batch."""

    def __init__(self, batches, rows, length, vocabulary):
        self.logits = torch.zeros(batches, rows, length, vocabulary, dtype=torch.float16)

    def __getitem__(self, step):
        return self.logits[step % len(self.logits)]


class Student(nn.Module):
    def __init__(self, vocabulary, width=512, layers=4):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 8, 2048, batch_first=True) for _ in range(layers)
        )
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def soft_loss(student, teacher, t=2.0):
    return F.kl_div(
        F.log_softmax(student / t, -1), F.softmax(teacher.float() / t, -1), reduction="batchmean"
    )


def run(seconds, rows=8, length=128, vocabulary=24_000):
    cache = Cache(4, rows, length, vocabulary)
    ids = torch.zeros(rows, length, dtype=torch.long, device="cuda")
    student = Student(vocabulary).cuda()
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-4)
    start = time.monotonic()
    step = 0
    while time.monotonic() < start + seconds:
        with torch.autocast("cuda", torch.bfloat16):
            logits = student(ids)
        teacher = cache[step].to("cuda")
        soft_loss(logits, teacher).backward()
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        print(f"step {step}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    run(parser.parse_args().seconds)
