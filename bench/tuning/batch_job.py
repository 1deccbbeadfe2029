#!/usr/bin/env python3
"""A training of one of six models on a (mostly emulated) GPU, and two finders of its batch.

Trains --batch-size samples a step for --steps steps, or until killed, with an evaluation of the
same batch every 50 steps; texts have 64 to 512 tokens, in one step of 40 all of them. Prints the
samples a second. With --find the script looks for a batch first, as the documentation of Lightning
and accelerate has it, and prints `batch N`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import torch
from models import CLASSES, LastStep, OfTransformers
from torch import nn

EVALUATE_EVERY = 50
LONGEST_EVERY = 40
SHORTEST, LONGEST = 64, 512
MODELS = ("resnet50", "vit_small", "gpt_small", "bert_small", "lstm", "mlp")


def make(name: str) -> nn.Module:
    if name == "resnet50":
        import torchvision

        return torchvision.models.resnet50(num_classes=CLASSES)
    if name == "vit_small":
        import timm

        return timm.create_model("vit_small_patch16_224", num_classes=CLASSES)
    if name == "lstm":
        return LastStep()
    if name == "mlp":
        hidden = [layer for _ in range(4) for layer in (nn.Linear(8192, 8192), nn.ReLU())]
        return nn.Sequential(*hidden, nn.Linear(8192, CLASSES))
    import transformers

    if name == "gpt_small":
        gpt = transformers.GPT2Config(
            vocab_size=1000, n_positions=LONGEST, n_embd=512, n_layer=6, n_head=8
        )
        return OfTransformers(transformers.GPT2LMHeadModel(gpt))
    bert = transformers.BertConfig(
        vocab_size=1000, hidden_size=512, num_hidden_layers=6, intermediate_size=2048,
        num_attention_heads=8, num_labels=CLASSES,
    )  # fmt: skip
    return OfTransformers(transformers.BertForSequenceClassification(bert))


def inputs_of(name: str, batch: int, step: int) -> torch.Tensor:
    if name == "mlp":
        return torch.zeros(batch, 8192, device="cuda")
    if name in ("resnet50", "vit_small"):
        return torch.zeros(batch, 3, 224, 224, device="cuda")
    longest = step % LONGEST_EVERY == LONGEST_EVERY - 1
    length = LONGEST if longest else random.Random(step).randrange(SHORTEST, LONGEST)
    return torch.zeros(batch, length, dtype=torch.long, device="cuda")


class Training:
    """The loop, which a finder begins anew with each size."""

    def __init__(self, name: str, batch: int) -> None:
        self.name, self.batch = name, batch
        self.model = make(name).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)

    def step(self, number: int) -> None:
        inputs = inputs_of(self.name, self.batch, number)
        labels = torch.zeros(self.batch, dtype=torch.long, device="cuda")
        loss = nn.functional.cross_entropy(self.model(inputs), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if number % EVALUATE_EVERY == EVALUATE_EVERY - 1:
            with torch.no_grad():
                self.model(inputs_of(self.name, self.batch, number))


def with_accelerate(name: str) -> int:
    from accelerate.utils import find_executable_batch_size

    @find_executable_batch_size(starting_batch_size=4096)  # type: ignore[untyped-decorator]
    def train(batch_size: int) -> int:
        training = Training(name, batch_size)
        for number in range(3):
            training.step(number)
        torch.cuda.synchronize()
        return batch_size

    found: Callable[[], int] = train
    return found()


def with_lightning(name: str) -> int:
    import lightning
    from lightning.pytorch.tuner import Tuner

    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.batch_size = 2
            self.model = make(name)

        def training_step(self, indices: torch.Tensor, number: int) -> torch.Tensor:
            inputs = inputs_of(name, len(indices), number)
            labels = torch.zeros(len(indices), dtype=torch.long, device="cuda")
            return nn.functional.cross_entropy(self.model(inputs), labels)

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters(), lr=1e-4)

        def train_dataloader(self) -> torch.utils.data.DataLoader[int]:
            return torch.utils.data.DataLoader(range(100_000), self.batch_size)

    trainer = lightning.Trainer(
        max_epochs=1, accelerator="gpu", devices=1, logger=False,
        enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False,
    )  # fmt: skip
    found = Tuner(trainer).scale_batch_size(Module(), mode="binsearch", max_trials=25)
    return int(found or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10**9)
    parser.add_argument("--find", choices=("accelerate", "lightning"))
    options = parser.parse_args()
    if options.find:
        find = with_accelerate if options.find == "accelerate" else with_lightning
        print(f"batch {find(options.model)}")
        return
    training = Training(options.model, options.batch_size)
    began = time.perf_counter()
    for number in range(options.steps):
        if number == 2:  # without what the first steps take
            torch.cuda.synchronize()
            began = time.perf_counter()
        training.step(number)
    torch.cuda.synchronize()
    rate = options.batch_size * (options.steps - 2) / (time.perf_counter() - began)
    print(f"samples_per_s {rate:.1f}")


if __name__ == "__main__":
    main()
