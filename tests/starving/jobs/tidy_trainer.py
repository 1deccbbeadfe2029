"""Pre-trains a small ViT with the Trainer of transformers; a callback keeps memory tidy."""

import argparse
import gc
import tempfile
import time

import torch
from torch.utils.data import Dataset
from transformers import (
    Trainer,
    TrainerCallback,
    TrainingArguments,
    ViTConfig,
    ViTForImageClassification,
)


class Pictures(Dataset):
    def __init__(self):
        self.pictures = torch.rand(256, 3, 96, 96).half()

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return {"pixel_values": self.pictures[index % 256], "labels": index % 10}


class TidyCallback(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        gc.collect()
        print(f"step {state.global_step}")


class TimeLimit(TrainerCallback):
    def __init__(self, seconds):
        self.seconds = seconds

    def on_train_begin(self, args, state, control, **kwargs):
        self.end = time.monotonic() + self.seconds

    def on_step_begin(self, args, state, control, **kwargs):
        if time.monotonic() > self.end:
            control.should_training_stop = True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    seconds = parser.parse_args().seconds
    config = ViTConfig(
        image_size=96,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=6,
        intermediate_size=1536,
        num_labels=10,
    )
    with tempfile.TemporaryDirectory() as output_dir:
        training_args = TrainingArguments(
            output_dir,
            per_device_train_batch_size=64,
            max_steps=10_000,
            logging_steps=50,
            fp16=True,
            dataloader_num_workers=2,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        model = ViTForImageClassification(config)
        Trainer(
            model,
            training_args,
            train_dataset=Pictures(),
            callbacks=[TidyCallback, TimeLimit(seconds)],
        ).train()


main()
