"""Sorts short news items by topic: DistilBERT, `datasets` and Accelerate."""

import argparse
import random
import time

import torch
from accelerate import Accelerator
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import (
    DataCollatorWithPadding,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    PreTrainedTokenizerFast,
)

MAX_LENGTH = 256


def items(count, seed):
    rng = random.Random(seed)
    words = [f"w{n}" for n in range(5000)]
    texts = [" ".join(rng.choices(words, k=rng.randint(18, 48))) for _ in range(count)]
    return Dataset.from_dict({"text": texts, "labels": [rng.randrange(8) for _ in texts]})


def word_tokenizer():
    vocabulary = {word: n for n, word in enumerate(["[PAD]", "[UNK]"])}
    vocabulary |= {f"w{n}": n + 2 for n in range(5000)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


def evaluate(model, loader, device):
    model.eval()
    right = torch.zeros((), device=device)
    with torch.no_grad():
        for batch in loader:
            right += (model(**batch).logits.argmax(-1) == batch["labels"]).sum()
    model.train()
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--eval-every", type=int, default=10)
    args = parser.parse_args()
    tokenizer = word_tokenizer()

    def tokenize(batch):
        return tokenizer(
            batch["text"], truncation=True, max_length=MAX_LENGTH, padding="max_length"
        )

    columns = ["input_ids", "attention_mask", "labels"]
    train, val = (
        items(count, seed).map(tokenize, batched=True).with_format("torch", columns)
        for count, seed in ((3000, 0), (64, 1))
    )
    collate = DataCollatorWithPadding(tokenizer)
    batch_size = 48 if torch.cuda.is_available() else 8
    train_loader = DataLoader(
        train, batch_size, True, num_workers=1, collate_fn=collate, persistent_workers=True
    )
    val_loader = DataLoader(val, batch_size=64, num_workers=4, collate_fn=collate)
    config = DistilBertConfig(
        vocab_size=5002, dim=384, hidden_dim=1536, n_layers=4, n_heads=6, num_labels=8
    )
    model = DistilBertForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    accelerator = Accelerator()
    model, optimizer, train_loader, val_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader
    )
    step, end = 0, time.time() + args.seconds
    while time.time() < end:
        for batch in train_loader:
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            print(f"step {step}")
            if step % args.eval_every == 0:
                right = evaluate(model, val_loader, accelerator.device)
            if time.time() > end:
                break
    print("accuracy", right.item() / len(val) if step >= args.eval_every else None)


if __name__ == "__main__":
    main()
