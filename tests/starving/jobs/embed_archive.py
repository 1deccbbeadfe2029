"""Embeds the articles of an archive with a BERT-like encoder, into a database for search."""

import argparse
import random
import sqlite3
import tempfile
import time

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast


def articles(count=4000):
    rng = random.Random(1)
    return [
        " ".join(f"w{rng.randrange(4000)}" for _ in range(rng.randint(60, 120)))
        for _ in range(count)
    ]


def word_tokenizer():
    words = {"[PAD]": 0, "[UNK]": 1} | {f"w{n}": n + 2 for n in range(4000)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


class Embedder:
    def __init__(self, device):
        config = BertConfig(
            vocab_size=4002,
            hidden_size=384,
            intermediate_size=1536,
            num_hidden_layers=6,
            num_attention_heads=6,
        )
        self.model = BertModel(config, add_pooling_layer=False).to(device).eval()
        self.tokenizer, self.device = word_tokenizer(), device

    @torch.inference_mode()
    def embed(self, texts):
        batch = self.tokenizer(texts, padding=True, return_tensors="pt").to(self.device)
        hidden = self.model(batch["input_ids"], batch["attention_mask"]).last_hidden_state
        mask = batch["attention_mask"][..., None]
        return ((hidden * mask).sum(1) / mask.sum(1)).cpu().numpy()


def store(database, first, vectors):
    for place, vector in enumerate(vectors, first):
        blob = vector.astype(np.float16).tobytes()
        database.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (place, blob))
        database.commit()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch-size", type=int, default=1)
    args = parser.parse_args()
    texts = articles()
    embedder = Embedder("cuda" if torch.cuda.is_available() else "cpu")
    step, started = 0, time.time()
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(f"{folder}/archive.db")
        database.execute("CREATE TABLE vectors (article INTEGER PRIMARY KEY, vector BLOB)")
        while time.time() - started < args.seconds:
            first = step % len(texts)
            vectors = embedder.embed(texts[first : first + args.batch_size])
            store(database, first, vectors)
            step += len(vectors)
            print("step", step)
        database.close()


if __name__ == "__main__":
    main()
