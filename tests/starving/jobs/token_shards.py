"""Continues the training of a small language model on token shards that stream out of tar files."""

import argparse
import io
import itertools
import tarfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

VOCABULARY, LENGTH = 8000, 256


def write_shards(folder, shards=6, blocks=20, rows=48):
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(3)
    for shard in range(shards):
        path = folder / f"tokens-{shard:04}.tar"
        if path.exists():
            continue
        with tarfile.open(path, "w") as tar:
            for block in range(blocks):
                file = io.BytesIO()
                np.save(file, draw.integers(0, VOCABULARY, (rows, LENGTH + 1), dtype=np.uint16))
                entry = tarfile.TarInfo(f"{block:05}.npy")
                entry.size = file.tell()
                file.seek(0)
                tar.addfile(entry, file)
    return sorted(folder.glob("tokens-*.tar"))


class Blocks(IterableDataset):
    """What it yields is a batch already; each worker has shards of its own."""

    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        info = get_worker_info()
        mine = self.shards[info.id :: info.num_workers] if info else self.shards
        for shard in itertools.cycle(mine):
            with tarfile.open(shard, "r|") as tar:
                for entry in tar:
                    block = np.load(io.BytesIO(tar.extractfile(entry).read()))
                    yield torch.from_numpy(block.astype(np.int32))


class Decoder(nn.Module):
    def __init__(self, width=384, depth=4):
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            width, 6, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.embed = nn.Embedding(VOCABULARY, width)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)
        self.register_buffer("mask", mask)

    def forward(self, ids):
        hidden = self.body(self.embed(ids), mask=self.mask, is_causal=True)
        return hidden @ self.embed.weight.T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = 32 if device == "cuda" else 4
    shards = write_shards(args.data / f"token_shards_{rows}", rows=rows)
    loader = DataLoader(Blocks(shards), batch_size=None, num_workers=1, pin_memory=True)
    model = Decoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    started = time.monotonic()
    for step, block in enumerate(loader, 1):
        block = block.to(device, non_blocking=True)
        scores = model(block[:, :-1]).flatten(0, 1)
        loss = nn.functional.cross_entropy(scores, block[:, 1:].flatten().long())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print("step", step)
        if step % 100 == 0:
            print(f"loss {loss.item():.3f}")
        if time.monotonic() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
