#!/usr/bin/env python3
"""How far is the first gradient of six trainings from that in FP64, as they are and with levers?

    bench/tuning/gradient_errors.py

Each training (models.py) runs on the CPU for a few steps in the way in which `unstarve tune`
compares results. Prints a row for each model: the distance of the two gradients, as a share of the
length of that in FP64, by the sketches of 256 numbers that the hook records.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv/bin/python"
JOB = Path(__file__).resolve().parent / "models.py"
MODELS = ("resnet50", "vit_small", "gpt_small", "bert_small", "lstm", "mlp")
LEVERS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "bf16_autocast": {"bf16_autocast": {}},
    "matmul_precision": {"matmul_precision": {}},
    "channels_last": {"channels_last": {}},
    "threads=1": {"threads": {"count": 1}},
}


def sketch_of(model: str, levers: dict[str, Any], seconds: float) -> list[float] | None:
    """None where a lever does not apply."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rings").mkdir()
        environment = dict(
            os.environ,
            PYTHONPATH=str(ROOT / "python/unstarve/hook"),
            UNSTARVE_RUN_DIR=folder,
            UNSTARVE_TUNE=json.dumps({"parity": {"steps": 1, "seed": 0}, "levers": levers}),
        )
        command = [str(PYTHON), str(JOB), model, "--seconds", str(seconds)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        said = json.loads((Path(folder) / "tune.json").read_text())
    sketch: list[float] = said["sketch"]
    return sketch if set(said["applied"]) == set(levers) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--seconds", type=float, default=2, help="of each run; a step at least")
    options = parser.parse_args()
    print("| model | " + " | ".join(LEVERS) + " |\n|---|" + "---:|" * len(LEVERS))
    for model in options.models:
        precise = sketch_of(model, {"float64": {}}, options.seconds)
        assert precise is not None, "float64 applies to every model"
        cells = []
        for levers in LEVERS.values():
            ours = sketch_of(model, levers, options.seconds)
            away = math.dist(ours, precise) / math.hypot(*precise) if ours else None
            cells.append("-" if away is None else f"{100 * away:.2g} %")
        print(f"| {model} | " + " | ".join(cells) + " |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
