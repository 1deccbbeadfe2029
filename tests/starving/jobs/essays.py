"""Grades essays with transformers' Trainer: long texts, which were turned into ids beforehand."""

import argparse
import tempfile
import time

import numpy as np
import torch
from transformers import (
    AlbertConfig,
    AlbertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)


class Essays(torch.utils.data.Dataset):
    def __init__(self, length, count=1500):
        self.ids = np.random.default_rng(4).integers(5, 10_000, (count, length))

    def __len__(self):
        return 50 * len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": torch.from_numpy(self.ids[i % len(self.ids)]), "labels": i % 6}


class Watch(TrainerCallback):
    def __init__(self, seconds):
        self.until = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        print("step", state.global_step)
        control.should_training_stop = time.time() > self.until
        return control


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    config = AlbertConfig(
        vocab_size=10_000,
        hidden_size=640,
        num_hidden_layers=8,
        num_attention_heads=10,
        intermediate_size=2560,
        num_labels=6,
    )
    with tempfile.TemporaryDirectory() as out:
        training = TrainingArguments(
            out,
            per_device_train_batch_size=16,
            max_steps=10_000,
            dataloader_num_workers=1,
            logging_steps=25,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        Trainer(
            model=AlbertForSequenceClassification(config),
            args=training,
            train_dataset=Essays(256),
            data_collator=default_data_collator,
            callbacks=[Watch(options.seconds)],
        ).train()


if __name__ == "__main__":
    main()
