#!/usr/bin/env python3
"""Which batch do Lightning's and accelerate's finders find, and which `unstarve tune`?

    bench/tuning/batch_finders.py --gpu t4

Six models on an emulated GPU (batch_job.py), whose memory PyTorch's own allocator fills: each
finder looks for a batch, then the job is trained with what it found. Prints a row for each model:
the batch, and the samples a second of that training, or how it ended. Ours proposes a batch by its
speed; the largest one that it measured need not be faster. Speeds are modelled. A finder that takes
longer than --limit seconds is ended, which is said.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
PYTHON = ROOT / ".venv/bin/python"
JOB = Path(__file__).resolve().parent / "batch_job.py"
FINDERS = ("lightning", "accelerate", "unstarve")
# The batch, and what makes room for a larger one at no cost in time.
LEVERS = "batch,expandable_segments"
MODELS = ("resnet50", "vit_small", "gpt_small", "bert_small", "lstm", "mlp")


@dataclass(frozen=True)
class Found:
    """A batch (0: none), what is set beside it, and what else is to be said of it."""

    batch: int
    remark: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def emulated(
    options: argparse.Namespace, *words: str, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """A run of the job: its exit code, and what it printed."""
    command = [str(UNSTARVE), "emulate", options.gpu, "--", str(PYTHON), str(JOB), *words]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=options.limit,
        )
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stdout + done.stderr


def found_by(finder: str, model: str, options: argparse.Namespace) -> Found:
    if finder == "unstarve":
        return found_by_us(model, options)
    code, said = emulated(options, model, "--find", finder)
    batch = re.search(r"^batch (\d+)", said, re.MULTILINE)
    if batch is None:
        print(f"  {finder}, {model}: exit {code}: {said[-300:]}", file=sys.stderr)
    return Found(int(batch[1]) if batch else 0)


def found_by_us(model: str, options: argparse.Namespace) -> Found:
    """What is proposed, or else the batch as it is; and the largest that ran and left memory."""
    with tempfile.TemporaryDirectory() as made:
        told = Path(made) / "t.json"
        command = [
            *(str(UNSTARVE), "tune", "--emulate", options.gpu, "--only", LEVERS),
            *("--trial-seconds", str(options.seconds), "--arg", "batch=--batch-size"),
            *("--budget-minutes", str(options.limit / 60), "--out", f"{made}/tuned"),
            *("--json", str(told), "--", str(PYTHON), str(JOB), model, "--batch-size", "8"),
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"  unstarve, {model}: {done.stderr[-300:]}", file=sys.stderr)
            return Found(0)
        print(done.stdout, file=sys.stderr)
        found = json.loads(told.read_text())
    proposed = [lever["id"] for lever in found["levers"] if lever["proposed"]]
    ran = [size_of(lever["id"]) for lever in found["levers"] if "speedup" in lever["speedup"]]
    most = f" (measured up to {max(ran, default=8)})"
    if not proposed:
        return Found(8, most)
    if "expandable_segments" not in proposed[0]:
        return Found(size_of(proposed[0]), most)
    growing = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    return Found(size_of(proposed[0]), f" with segments that grow{most}", growing)


def size_of(lever: str) -> int:
    """Of "batch=64 expandable_segments"; 0: it is another lever."""
    size = re.match(r"batch=(\d+)", lever)
    return int(size[1]) if size else 0


def trained(model: str, found: Found, options: argparse.Namespace) -> str:
    """Samples a second of a training with this batch, or how it ended."""
    if not found.batch:
        return "none found"
    words = (model, "--batch-size", str(found.batch), "--steps", str(options.steps))
    code, said = emulated(options, *words, environment=found.environment)
    rate = re.search(r"^samples_per_s ([\d.]+)", said, re.MULTILINE)
    if rate:
        return f"{float(rate[1]):.0f}/s"
    if code == -1:
        return f"no end within {options.limit:.0f} s"
    return "**out of memory**" if "OutOfMemoryError" in said else f"**exit {code}**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gpu", default="t4")
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--finders", nargs="*", default=FINDERS, choices=FINDERS)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=4, help="of each of our trials")
    parser.add_argument("--limit", type=float, default=300, help="seconds of a finder, a training")
    options = parser.parse_args()
    head = " | ".join(options.finders)
    print(f"| model | {head} |\n|---" + "|---" * len(options.finders) + "|")
    for model in options.models:
        cells = []
        for finder in options.finders:
            began = time.monotonic()
            found = found_by(finder, model, options)
            took_s = time.monotonic() - began
            ended = trained(model, found, options)
            cells.append(f"{found.batch}{found.remark}: {ended}; {took_s:.0f} s to find")
        print(f"| {model} | " + " | ".join(cells) + " |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
