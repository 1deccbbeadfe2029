#!/usr/bin/env python3
"""Images per CPU second under Hugging Face's Trainer, with torch's loader and with unstarve's.

The pipeline `with_transform` of this folder feeds a model that only adds its pixels up, so that
loading is what takes time. Both loaders run by turns, each time in a process of its own. What the
first images of a process cost (imports, the first batches) is left out: a run of twice as many
steps is compared with one.

    bench/reach/under_trainer.py FOLDER --repeats 5      # FOLDER: as of reach.py
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from made_data import make
from pipelines import load_all
from worker import cpu_s

BATCH = 32
IMAGES = 1536


class Sum(torch.nn.Module):  # type: ignore[misc]
    """A model that takes next to no time."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros(1))

    def forward(self, pixel_values: Any, labels: Any) -> dict[str, Any]:
        loss = (self.scale * pixel_values[:, :, ::16, ::16]).mean()
        return {"loss": loss + 0.0 * labels.sum()}


def train(data: Path, loader: str, steps: int) -> None:
    """Prints the CPU seconds of a training of so many steps, and those of twice as many."""
    import transformers

    if loader == "unstarve":
        import unstarve

        transformers.trainer.DataLoader = unstarve.DataLoader
    made = load_all()["with_transform"].make(data, torch.utils.data.DataLoader)
    spent = []
    for count in (steps, 2 * steps):
        with tempfile.TemporaryDirectory() as folder:
            arguments = transformers.TrainingArguments(
                folder,
                max_steps=count,
                per_device_train_batch_size=BATCH,
                dataloader_num_workers=2,
                remove_unused_columns=False,
                save_strategy="no",
                logging_strategy="no",
                use_cpu=True,
                report_to=[],
                disable_tqdm=True,
            )
            trainer = transformers.Trainer(
                model=Sum(),
                args=arguments,
                train_dataset=made.dataset,
                data_collator=made.collate_fn,
            )
            before = cpu_s()
            trainer.train()
            spent.append(cpu_s() - before)
    print(json.dumps(spent))


def measure(arguments: argparse.Namespace, loader: str) -> float:
    """Images per CPU second."""
    command = [sys.executable, __file__, str(arguments.data), "--steps", str(arguments.steps)]
    done = subprocess.run(
        [*command, "--loader", loader], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{loader}: {done.stderr[-2000:]}")
    once, twice = json.loads(done.stdout.splitlines()[-1])
    return float(arguments.steps * BATCH / (twice - once))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--loader", choices=["torch", "unstarve"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.loader:
        torch.set_num_threads(1)
        train(arguments.data, arguments.loader, arguments.steps)
        return 0
    arguments.data = arguments.data.absolute() / str(IMAGES)
    make(arguments.data, IMAGES)
    rates: dict[str, list[float]] = {"torch": [], "unstarve": []}
    for _ in range(arguments.repeats):
        for loader, measured in rates.items():
            measured.append(measure(arguments, loader))
            print(f"{loader:9} {measured[-1]:7.0f} images per CPU second", flush=True)
    ratios = [ours / theirs for ours, theirs in zip(rates["unstarve"], rates["torch"], strict=True)]
    print(
        f"under Trainer: {statistics.median(rates['unstarve']):.0f} against "
        f"{statistics.median(rates['torch']):.0f}, {statistics.median(ratios):.2f}x "
        f"[{min(ratios):.2f}..{max(ratios):.2f}]"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
