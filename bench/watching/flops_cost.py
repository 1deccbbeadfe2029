"""What does `run --flops` cost a job: the step that is counted, and the job's end?

    python bench/watching/flops_cost.py

A small transformer on one CPU thread, so that its operators take little and being written down
takes much of them. Counted steps alternate with plain ones.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

HOOK = Path(__file__).resolve().parents[2] / "python" / "unstarve" / "hook"
STEPS = 20


def main() -> None:
    torch.set_num_threads(1)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 24)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    tokens = torch.randn(2, 16, 64)

    def step() -> float:
        before = time.perf_counter()
        optimizer.zero_grad()
        model(tokens).square().mean().backward()
        optimizer.step()
        return time.perf_counter() - before

    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(UNSTARVE_RUN_DIR=folder, UNSTARVE_FLOPS="1")
        sys.path.insert(0, str(HOOK))
        flops: Any = importlib.import_module("_unstarve_hook.flops")
        counting: Any = importlib.import_module("_unstarve_hook.flops.counting")

        for _ in range(5):
            step()
        plain, counted, size = [], [], 0
        for _ in range(STEPS):
            plain.append(step())
            counter = flops.Counter()
            begun = time.perf_counter()
            counter.after_step(4, 0)
            step()
            counter.after_step(5, 0)
            counted.append(time.perf_counter() - begun)
            path = Path(counter._path)
            size = path.stat().st_size
            reading = time.perf_counter()
            found = counting.count_file(str(path), {})
            reading = time.perf_counter() - reading
            path.unlink()
            counter._path = ""
    more = statistics.median(counted) - statistics.median(plain)
    print(f"torch {torch.__version__}: a step of {1e3 * statistics.median(plain):.1f} ms")
    print(f"counted {1e3 * more:.1f} ms more, once; {found['products']} products")
    print(f"{size / 1e6:.1f} MB, read at the job's end in {1e3 * reading:.0f} ms")


if __name__ == "__main__":
    main()
