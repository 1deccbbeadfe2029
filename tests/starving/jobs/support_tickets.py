"""Routes support tickets to the team that can answer them, with transformers' Trainer."""

import argparse
import random
import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

TEAMS = ("billing", "network", "hardware", "accounts")


def export(folder, count=1500):
    """Tickets, one a line, and the vocabulary that goes with them."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    parts = "re con pro fi lo mo der ter ing er ta ne to mi la so gra ble ment ly un in dis".split()
    words = ["".join(rng.choices(parts, k=rng.randint(1, 4))) for _ in range(3000)]
    pieces = [*parts, *("##" + part for part in parts), *"abcdefghijklmnopqrstuvwxyz.,!?'"]
    pieces += ["##" + letter for letter in "abcdefghijklmnopqrstuvwxyz"]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text(
        "\n".join(dict.fromkeys([*special, *pieces, *words[:1500]])) + "\n"
    )
    lines = []
    for _ in range(count):
        text = " ".join(rng.choices(words, k=rng.randint(80, 140))).capitalize()
        lines.append(f"{rng.choice(TEAMS)}\t{text}, please help!")
    (folder / "tickets.tsv").write_text("\n".join(lines))


class TicketDataset(Dataset):
    def __init__(self, file, tokenizer):
        rows = [line.split("\t") for line in file.read_text().splitlines()]
        self.labels = [TEAMS.index(team) for team, _ in rows]
        self.texts = [text for _, text in rows]
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.texts)

    def encode(self, text):
        return self.tokenizer(text, truncation=True, padding="max_length", max_length=128)

    def __getitem__(self, i):
        item = {key: torch.tensor(ids) for key, ids in self.encode(self.texts[i]).items()}
        return {**item, "labels": self.labels[i]}


class Until(TrainerCallback):
    def __init__(self, seconds):
        self.end = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        print("step", state.global_step)
        control.should_training_stop = time.time() > self.end


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    folder = args.data / "support_tickets"
    if not (folder / "tickets.tsv").exists():
        export(folder)
    tokenizer = BertTokenizerLegacy(str(folder / "vocab.txt"))
    tickets = TicketDataset(folder / "tickets.tsv", tokenizer)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        intermediate_size=1536,
        num_hidden_layers=4,
        num_attention_heads=6,
        num_labels=len(TEAMS),
    )
    with tempfile.TemporaryDirectory() as out:
        training = TrainingArguments(
            out,
            per_device_train_batch_size=32,
            num_train_epochs=500,
            dataloader_num_workers=2,
            dataloader_persistent_workers=True,
            logging_steps=200,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        model = BertForSequenceClassification(config)
        Trainer(model, training, train_dataset=tickets, callbacks=[Until(args.seconds)]).train()
