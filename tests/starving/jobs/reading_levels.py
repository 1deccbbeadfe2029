"""Guesses for which age a text was written; texts of similar length share a batch."""

import argparse
import random
import time

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    """Encoded as a whole, once."""

    def __init__(self, count=2000):
        draw = random.Random(4)
        words = [
            "".join(draw.choices("aeioubdfklmnrst", k=draw.randint(2, 9))) for _ in range(2000)
        ]
        texts = [" ".join(draw.choices(words, k=draw.randint(40, 90))) for _ in range(count)]
        tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        trainer = trainers.BpeTrainer(vocab_size=4000, special_tokens=["[PAD]", "[UNK]"])
        tokenizer.train_from_iterator(texts, trainer)
        self.ids = [torch.tensor(e.ids[:192]) for e in tokenizer.encode_batch(texts)]
        self.ages = [float(draw.randrange(5, 18)) for _ in texts]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i], self.ages[i]


class Buckets:
    """Batches of similar length, in another order each time."""

    def __init__(self, lengths, size):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[i : i + size] for i in range(0, len(order), size)]

    def __len__(self):
        return 50 * len(self.batches)

    def __iter__(self):
        for _ in range(50):
            random.shuffle(self.batches)
            yield from self.batches


def collate(rows):
    ids, ages = zip(*rows, strict=True)
    return pad_sequence(ids, batch_first=True), torch.tensor(ages)


class Reader(nn.Module):
    def __init__(self, width=512, layers=4):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, 0.0, batch_first=True)
        self.embed, self.age = nn.Embedding(4000, width, padding_idx=0), nn.Linear(width, 1)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, ids):
        padding = ids == 0
        x = self.body(self.embed(ids), src_key_padding_mask=padding)
        return self.age((x * ~padding[..., None]).mean(1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    texts = Texts()
    sampler = Buckets([len(ids) for ids in texts.ids], 64 if device == "cuda" else 8)
    loader = DataLoader(
        texts, batch_sampler=sampler, num_workers=1, collate_fn=collate, pin_memory=True
    )
    model = Reader().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    started = time.monotonic()
    for step, (ids, ages) in enumerate(loader, 1):
        ids, ages = ids.to(device, non_blocking=True), ages.to(device, non_blocking=True)
        loss = nn.functional.smooth_l1_loss(model(ids), ages)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"loss {loss.item():.3f}")
        print("step", step)
        if time.monotonic() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
