#!/usr/bin/env python3
"""A training of one of six models on the CPU, on random data: what `search_quality.py` tunes.

Prints the mean time of a step, in ms, over the second half of --seconds, or trains until killed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import nn

Batch = tuple[torch.Tensor, torch.Tensor]
CLASSES = 10


class LastStep(nn.Module):  # type: ignore[misc]
    """An LSTM that reads tokens and classifies by its last output."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.lstm = nn.LSTM(256, 384, num_layers=2, batch_first=True)
        self.head = nn.Linear(384, CLASSES)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        outputs, _ = self.lstm(self.embedding(tokens))
        logits: torch.Tensor = self.head(outputs[:, -1])
        return logits


class OfTransformers(nn.Module):  # type: ignore[misc]
    """Logits of a model of transformers, of its last token where it is a language model."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=tokens).logits
        return logits[:, -1, :CLASSES] if logits.dim() == 3 else logits


def images(size: int, batch: int) -> Callable[[], Batch]:
    return lambda: (torch.randn(batch, 3, size, size), torch.arange(batch) % CLASSES)


def tokens(length: int, batch: int) -> Callable[[], Batch]:
    return lambda: (torch.randint(0, 1000, (batch, length)), torch.arange(batch) % CLASSES)


def make(name: str) -> tuple[nn.Module, Callable[[], Batch]]:
    if name == "resnet50":
        import torchvision

        return torchvision.models.resnet50(num_classes=CLASSES), images(64, 8)
    if name == "vit_small":
        import timm

        sizes = {"img_size": 96, "num_classes": CLASSES}
        return timm.create_model("vit_small_patch16_224", **sizes), images(96, 8)
    if name == "lstm":
        return LastStep(), tokens(32, 16)
    if name == "mlp":
        layers = [nn.Flatten(), nn.Linear(3072, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(2048, CLASSES)), images(32, 64)
    import transformers

    if name == "gpt_small":
        config = transformers.GPT2Config(
            vocab_size=1000, n_positions=128, n_embd=256, n_layer=4, n_head=4,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip
        return OfTransformers(transformers.GPT2LMHeadModel(config)), tokens(64, 8)
    config = transformers.BertConfig(
        vocab_size=1000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
        intermediate_size=1024, num_labels=CLASSES,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    return OfTransformers(transformers.BertForSequenceClassification(config)), tokens(64, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("model")
    parser.add_argument("--seconds", type=float, default=0)
    options = parser.parse_args()
    torch.manual_seed(0)
    model, batch = make(options.model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    began = last = time.perf_counter()
    steps, half = 0, 0.0
    while not options.seconds or last - began < options.seconds:
        inputs, labels = batch()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        last = time.perf_counter()
        if half:
            steps += 1
        elif last - began > options.seconds / 2:
            half = last
    if steps:
        print(f"{1e3 * (last - half) / steps:.3f}")


if __name__ == "__main__":
    main()
