"""Embeds documents for a search engine; the next ones are copied while these are read."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Bi(nn.Module):
    def __init__(self, width=768, layers=12):
        super().__init__()
        block = nn.TransformerEncoderLayer(width, 12, 3072, batch_first=True, norm_first=True)
        self.embed = nn.Embedding(30_000, width)
        self.layers = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)

    def forward(self, ids):
        return nn.functional.normalize(self.layers(self.embed(ids))[:, 0], dim=-1)


class Ahead:
    def __init__(self, loader):
        self.batches, self.stream = iter(loader), torch.cuda.Stream()
        self.fetch()

    def fetch(self):
        with torch.cuda.stream(self.stream):
            (batch,) = next(self.batches, (None,))
            self.next = None if batch is None else batch.cuda(non_blocking=True)

    def __iter__(self):
        while self.next is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.next
            batch.record_stream(torch.cuda.current_stream())
            self.fetch()
            yield batch


@torch.inference_mode()
def embed(encoder, documents, seconds):
    loader = DataLoader(documents, 128, num_workers=1, pin_memory=True)
    vectors, start = [], time.time()
    for step, ids in enumerate(Ahead(loader), 1):
        vectors.append(encoder(ids))
        if step % 2 == 0:
            torch.cuda.current_stream().synchronize()
        print("step", step)
        if time.time() - start > seconds:
            break
    return torch.cat(vectors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    opts = parser.parse_args()
    corpus = TensorDataset(torch.randint(0, 30_000, (60_000, 256), dtype=torch.int32))
    embed(Bi().half().cuda().eval(), corpus, opts.seconds)
