"""Sorts headlines into sections with transformers' Trainer; text becomes ids in the collator."""

import argparse
import random
import tempfile
import time

import torch
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ou")]


class WordPieces:
    """The longest piece that fits comes first, as in BERT."""

    def __init__(self, length):
        pieces = SYLLABLES + [a + b for a in SYLLABLES[::3] for b in SYLLABLES[::2]]
        self.ids = {piece: 5 + i for i, piece in enumerate(pieces)}
        self.length = length

    def split(self, word):
        start, ids = 0, []
        while start < len(word):
            end = len(word)
            while end > start and word[start:end] not in self.ids:
                end -= 1
            if end == start:
                return [1]
            ids.append(self.ids[word[start:end]])
            start = end
        return ids

    def __call__(self, rows):
        texts = [[i for word in row["text"].split() for i in self.split(word)] for row in rows]
        ids = [(text + [0] * self.length)[: self.length] for text in texts]
        labels = torch.tensor([row["section"] for row in rows])
        return {"input_ids": torch.tensor(ids), "labels": labels}


class Until(TrainerCallback):
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        print("step", state.global_step)
        control.should_training_stop = time.monotonic() > self.end
        return control


def headlines(count):
    draw = random.Random(4)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 7))) for _ in range(5000)]
    return [
        {"text": " ".join(draw.choices(words, k=72)), "section": draw.randrange(9)}
        for _ in range(count)
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    config = DistilBertConfig(vocab_size=8000, dim=512, n_heads=8, hidden_dim=2048, num_labels=9)
    with tempfile.TemporaryDirectory() as out:
        arguments = TrainingArguments(
            output_dir=out,
            per_device_train_batch_size=64,
            max_steps=10_000,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            bf16=True,
            remove_unused_columns=False,
        )
        Trainer(
            model=DistilBertForSequenceClassification(config),
            args=arguments,
            data_collator=WordPieces(128),
            train_dataset=headlines(6000),
            callbacks=[Until(options.seconds)],
        ).train()
