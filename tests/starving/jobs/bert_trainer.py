"""Trains BERT to guess masked words with transformers' Trainer; all tokens are in memory."""

import argparse
import tempfile
import time

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainerCallback, TrainingArguments


class Tokens(Dataset):
    def __init__(self, rows=4096, length=256):
        self.ids = torch.randint(5, 20_000, (rows, length))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


class Announce(TrainerCallback):
    def __init__(self, seconds):
        self.until = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        print(f"step {state.global_step}")
        if time.time() > self.until:
            control.should_training_stop = True
        return control


def arguments_for(folder):
    return TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=48,
        max_steps=5000,
        logging_steps=200,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_num_workers=1,
        bf16=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    model = BertForMaskedLM(BertConfig(vocab_size=20_000, num_hidden_layers=8))
    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            model=model,
            args=arguments_for(folder),
            train_dataset=Tokens(),
            callbacks=[Announce(args.seconds)],
        ).train()


if __name__ == "__main__":
    main()
