"""Fine-tunes a small BERT on reviews with the Trainer of transformers."""

import random
import sys
import tempfile
import time

import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

WORDS = "the film was long and slow but the end made up for it in a way nobody saw coming".split()


class Reviews(Dataset):
    def __len__(self):
        return 50_000

    def __getitem__(self, index):
        rng = random.Random(index)
        return {"text": " ".join(rng.choices(WORDS, k=700)), "label": index % 2}


class TrigramCollator:
    """Letters in threes make a token, by their polynomial hash."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def __call__(self, examples):
        ids = torch.zeros(len(examples), 400, dtype=torch.long)
        for row, example in enumerate(examples):
            text = example["text"]
            hashes = []
            for i in range(len(text) - 2):
                a, b, c = map(ord, text[i : i + 3])
                hashes.append((a * 961 + b * 31 + c) % self.vocabulary)
            ids[row, : min(400, len(hashes))] = torch.tensor(hashes[:400])
        labels = torch.tensor([example["label"] for example in examples])
        return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": labels}


class Clock(TrainerCallback):
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        print(f"step {state.global_step}")
        control.should_training_stop = time.monotonic() > self.end


seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 8
config = BertConfig(vocab_size=8192, hidden_size=128, num_hidden_layers=2, num_attention_heads=2)
with tempfile.TemporaryDirectory() as folder:
    options = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=64,
        dataloader_num_workers=1,
        max_steps=100_000,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    Trainer(
        model=BertForSequenceClassification(config),
        args=options,
        train_dataset=Reviews(),
        data_collator=TrigramCollator(config.vocab_size),
        callbacks=[Clock(seconds)],
    ).train()
