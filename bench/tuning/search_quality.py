#!/usr/bin/env python3
"""Is what `unstarve tune` keeps as fast as the best of all combinations of levers?

    bench/tuning/search_quality.py --seconds 4

Six models are trained on the CPU (models.py). Of each, every combination of the levers below runs
once in a fresh process, then `unstarve tune` searches among the same levers; last the job as it is,
the grid's best and what the search kept run in turns, and the medians of these runs are compared.
Prints a row for each model: what the search kept, how much slower that is than the grid's best (5 %
at most is aimed at), and how many runs both took (a quarter is aimed at). Levers that fail parity
may not be kept, and stay in the grid: its best is of speed alone, which the row then says.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
HOOK = ROOT / "python/unstarve/hook"
PYTHON = ROOT / ".venv/bin/python"
JOB = Path(__file__).resolve().parent / "models.py"
MODELS = ("resnet50", "vit_small", "gpt_small", "bert_small", "lstm", "mlp")
KEPT_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "1099511627776"}

# By the id that the tuner has for it: the hook's name and settings.
LEVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "bf16_autocast": ("bf16_autocast", {}),
    "matmul_precision": ("matmul_precision", {}),
    "threads=1": ("threads", {"count": 1}),
    "kept_memory": ("kept_memory", {"set": True}),
    "fused_optimizer": ("fused_optimizer", {}),
    "channels_last": ("channels_last", {}),
}
Levers = frozenset[str]


def grid(model: str) -> list[Levers]:
    """All combinations; of precisions at most one, channels_last of convolutions alone."""
    choices: list[tuple[str, ...]] = [
        ("", "bf16_autocast", "matmul_precision"),
        ("", "threads=1"),
        ("", "kept_memory"),
        ("", "fused_optimizer"),
    ]
    if model == "resnet50":
        choices.append(("", "channels_last"))
    return [frozenset(one) - {""} for one in itertools.product(*choices)]


def step_ms(model: str, levers: Levers, seconds: float, folder: Path) -> float:
    """Mean time of a step in a fresh process; infinite where it fails."""
    (folder / "rings").mkdir(exist_ok=True)
    asked = {"levers": dict(LEVERS[lever] for lever in levers)}
    environment = dict(
        os.environ,
        PYTHONPATH=str(HOOK),
        UNSTARVE_RUN_DIR=str(folder),
        UNSTARVE_TUNE=json.dumps(asked),
        **(KEPT_MEMORY if "kept_memory" in levers else {}),
    )
    command = [str(PYTHON), str(JOB), model, "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    said = json.loads((folder / "tune.json").read_text()) if done.returncode == 0 else {}
    if said.get("refused", True):
        print(f"  {name(levers)}: {said.get('refused') or done.stderr[-200:]}", file=sys.stderr)
        return float("inf")
    return float(done.stdout)


def search(model: str, seconds: float, folder: Path, logs: Path | None) -> dict[str, Any]:
    only = sorted({lever.partition("=")[0] for lever in LEVERS})
    command = [
        *(str(UNSTARVE), "tune", "--trial-seconds", str(seconds), "--budget-minutes", "60"),
        *("--only", ",".join(only), "--out", str(folder / "tuned")),
        *("--json", str(folder / "tuned.json"), "--", str(PYTHON), str(JOB), model),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if logs:
        (logs / f"{model}.txt").write_text(done.stderr + done.stdout)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    found: dict[str, Any] = json.loads((folder / "tuned.json").read_text())
    return found


def name(levers: Levers) -> str:
    return " + ".join(sorted(levers)) or "as it is"


def compare(model: str, options: argparse.Namespace) -> tuple[float, int, int]:
    """Prints a row. How many times the grid's best the search's choice takes, and both's runs."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        times = {}
        for levers in grid(model):
            times[levers] = step_ms(model, levers, options.seconds, folder)
        found = search(model, options.seconds, folder, options.logs)
        kept = frozenset(lever["id"] for lever in found["levers"] if lever["kept"])
        best = min(times, key=lambda levers: times[levers])
        turns: dict[Levers, list[float]] = {one: [] for one in (frozenset(), best, kept)}
        for _ in range(options.repeats):
            for levers in turns:
                turns[levers].append(step_ms(model, levers, options.seconds, folder))
    medians = {levers: statistics.median(values) for levers, values in turns.items()}
    ratio = medians[kept] / medians[best]
    refused = [lever["id"] for lever in found["levers"] if lever["parity"] == "failed"]
    print(
        f"| {model} | {medians[frozenset()]:.1f} ms | {name(best)} | {medians[best]:.1f} ms | "
        f"{name(kept)} | {medians[kept]:.1f} ms | {100 * (ratio - 1):+.1f} % | {len(times)} | "
        f"{found['trials']} | {found['noise_ratio']:.1%} | {', '.join(refused) or '-'} |"
    )
    sys.stdout.flush()
    return ratio, len(times), int(found["trials"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--seconds", type=float, default=4, help="of each run")
    parser.add_argument("--repeats", type=int, default=5, help="of the comparison at the end")
    parser.add_argument("--logs", type=Path, help="folder for what the searches print")
    options = parser.parse_args()
    if options.logs:
        options.logs.mkdir(parents=True, exist_ok=True)
    print(
        "| model | as it is | best of the grid | | kept by the search | | slower by | runs of the "
        "grid | of the search | noise | failed parity |\n|---|---:|---|---:|---|---:|---:|---:|"
        "---:|---:|---|"
    )
    rows = [compare(model, options) for model in options.models]
    near = sum(ratio <= 1.05 for ratio, _, _ in rows)
    print(f"\n{near} of {len(rows)} within 5 % of the grid's best")
    return 0


if __name__ == "__main__":
    sys.exit(main())
