"""Learns which answers to quiz questions are right, with transformers' Trainer."""

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


class Solved(Dataset):
    """Questions that were turned into numbers long ago."""

    def __init__(self, count=4000):
        self.ids = torch.randint(0, 8000, (count, LENGTH))

    def __len__(self):
        return 20 * len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i % len(self.ids)], "labels": i % 2}


class FromTheShow(Dataset):
    """What was asked on television, with all that the stenographers noted around it."""

    asides = re.compile(r"\[[^\]]*\]|\(\w+\)|\s+")

    def __init__(self, count):
        draw = random.Random(12)
        words = ["".join(draw.choices("abcdehilmnorstu", k=draw.randint(2, 9))) for _ in range(999)]
        notes = ["[applause]", "(laughs)", "[a pause,  then]"]
        self.texts = [
            " ".join(draw.choice(notes if draw.random() < 0.1 else words) for _ in range(900))
            for _ in range(count)
        ]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        kept = self.asides.sub(" ", self.texts[i]).lower().split()
        grams = [f"{word}$"[at : at + 4] for word in kept for at in range(max(1, len(word) - 2))]
        ids = [zlib.crc32(gram.encode()) % 8000 for gram in grams]
        return {"input_ids": torch.tensor(ids[:LENGTH]), "labels": i % 2}


class Clock(TrainerCallback):
    def __init__(self, seconds):
        self.end = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        print("step", state.global_step)
        if time.time() > self.end:
            control.should_training_stop, control.should_evaluate = True, False
        return control


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    config = BertConfig(vocab_size=8000, hidden_size=384, intermediate_size=1536)
    config.num_hidden_layers, config.num_attention_heads = 8, 6
    with tempfile.TemporaryDirectory() as out:
        arguments = TrainingArguments(
            out,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=32,
            max_steps=10_000,
            eval_strategy="steps",
            eval_steps=15,
            logging_steps=100,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        Trainer(
            model=Bert(config),
            args=arguments,
            train_dataset=Solved(),
            eval_dataset=FromTheShow(160),
            callbacks=[Clock(options.seconds)],
        ).train()
