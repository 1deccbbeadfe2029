"""Learns folk tunes, note by note, with transformers' Trainer."""

import argparse
import tempfile
import time

import torch
from torch.utils.data import Dataset
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

NOTES = 512


class Tunes(Dataset):
    def __init__(self, length=192, count=20_000):
        self.notes = torch.randint(0, NOTES, (count + length,))
        self.length, self.count = length, count

    def __len__(self):
        return self.count

    def __getitem__(self, start):
        tune = self.notes[start : start + self.length]
        return {"input_ids": tune, "labels": tune}


class Limit(TrainerCallback):
    def __init__(self, seconds):
        self.seconds, self.start = seconds, None

    def on_step_begin(self, args, state, control, **kwargs):
        self.start = self.start or time.time()

    def on_step_end(self, args, state, control, **kwargs):
        print(f"step {state.global_step}", flush=True)
        control.should_training_stop = time.time() - self.start > self.seconds
        return control


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    config = GPT2Config(vocab_size=NOTES, n_positions=192, n_embd=320, n_layer=6, n_head=5)
    with tempfile.TemporaryDirectory() as folder:
        training = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=48,
            max_steps=10_000,
            learning_rate=5e-4,
            lr_scheduler_type="cosine",
            logging_steps=50,
            save_strategy="steps",
            save_steps=10,
            save_total_limit=2,
            dataloader_num_workers=1,
            report_to="none",
            disable_tqdm=True,
        )
        trainer = Trainer(
            model=GPT2LMHeadModel(config),
            args=training,
            train_dataset=Tunes(),
            callbacks=[Limit(args.seconds)],
        )
        trainer.train()


if __name__ == "__main__":
    main()
