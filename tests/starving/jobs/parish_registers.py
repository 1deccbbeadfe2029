"""Learns from parish registers which entries are of one family, with transformers' Trainer."""

import argparse
import random
import re
import tempfile
import time
import zlib

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, Trainer, TrainerCallback, TrainingArguments
from transformers import BertForSequenceClassification as Bert

LENGTH = 128
# As clerks heard them: Meyer, Maier and Mayr are one name.
SOUNDS = [
    (re.compile(pattern), letter)
    for pattern, letter in (
        (r"ph|v", "f"),
        (r"[ae][iy]", "ei"),
        (r"c(?=[aouklrh])|q", "k"),
        (r"c(?=[eiy])|tz|ts|ß", "z"),
        (r"th|dt|d$", "t"),
        (r"(?<=[aeiou])h", ""),
        (r"ie|j|y", "i"),
        (r"sch|sh", "x"),
        (r"[äæ]", "e"),
        (r"[öø]", "o"),
        (r"w(?=r)|b(?=t)", ""),
        (r"(.)\1+", r"\1"),
        (r"(?<=.)e(?=[rln]$)", ""),
    )
]


def as_heard(name):
    for pattern, letter in SOUNDS:
        name = pattern.sub(letter, name)
    return name


class Registers(Dataset):
    def __init__(self, count=500):
        draw = random.Random(1648)
        parts = "mei er schm idt ph ilip cath ar ina tho mas kött ner weiß haupt joh ann".split()
        names = ["".join(draw.choices(parts, k=draw.randint(2, 4))) for _ in range(4000)]
        self.entries = [" ".join(draw.choices(names, k=LENGTH)) for _ in range(count)]

    def __len__(self):
        return 200 * len(self.entries)

    def __getitem__(self, i):
        words = self.entries[i % len(self.entries)].lower().split()
        heard = [as_heard(word) for word in words]
        ids = [zlib.crc32(word.encode()) % 8000 for word in heard]
        return {"input_ids": torch.tensor(ids), "labels": i % 2}


class Bell(TrainerCallback):
    def __init__(self, seconds):
        self.rings = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        print("step", state.global_step)
        control.should_training_stop = time.time() > self.rings


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    given = parser.parse_args()
    config = BertConfig(vocab_size=8000, hidden_size=384, intermediate_size=1536)
    config.num_hidden_layers, config.num_attention_heads = 6, 6
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(
            folder,
            per_device_train_batch_size=32,
            max_steps=50_000,
            logging_steps=200,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        Trainer(
            Bert(config), options, train_dataset=Registers(), callbacks=[Bell(given.seconds)]
        ).train()
