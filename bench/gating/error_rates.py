#!/usr/bin/env python3
"""How often are gates of the same against the same wrong, and which changes do they catch?

The runs are real: `unstarve gate --base same.json --accept --reason rates --runs 60 -- COMMAND`
made them one after the other. A gate is made of 24 that follow each other: twelve pairs of
neighbours, of which a coin says which is the base, as it is by chance where both are the same. For
a change, one measure of the other side is made so much larger. Each gate is judged as
`unstarve gate` judges.

    ninja -C build/release judge_runs
    bench/gating/error_rates.py same.json [OTHER.json...] --gates 200
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 12
#: A measure's sums (docs/formats/baseline.md): one over another.
MEASURES = {
    "host_ms_per_step": ("own_work", "steps"),
    "cpu_ms_per_sample": ("job_cpu", "job_cpu_samples"),
    "input_wait": ("waiting", "wall"),
    "gpu_ms_per_step": ("gpu_computes", "recorded_steps"),
    "step_time": ("wall", "steps"),
}
#: What is made larger; a slower fetch makes the first two together.
CHANGED = (
    ("cpu_ms_per_sample", "step_time"),
    ("cpu_ms_per_sample",),
    ("gpu_ms_per_step",),
    ("host_ms_per_step",),
    ("step_time",),
)


def values_of(run: dict[str, Any]) -> dict[str, float]:
    sums = run["sums"]
    return {
        measure: sums[over] / sums[under]
        for measure, (over, under) in MEASURES.items()
        if sums.get(over) and sums.get(under)
    }


def make_gate(
    runs: list[dict[str, float]], draw: random.Random, changed: tuple[str, ...], ratio: float
) -> dict[str, list[dict[str, float]]]:
    begin = draw.randrange(len(runs) - 2 * PAIRS + 1)
    sides: dict[str, list[dict[str, float]]] = {"a": [], "b": []}
    for i in range(begin, begin + 2 * PAIRS, 2):
        pair = [dict(runs[i]), dict(runs[i + 1])]
        draw.shuffle(pair)
        for measure in changed:
            pair[1][measure] *= ratio
        sides["a"].append(pair[0])
        sides["b"].append(pair[1])
    return sides


def judge(gates: list[dict[str, Any]], program: str) -> list[dict[str, Any]]:
    text = "".join(json.dumps(gate) + "\n" for gate in gates)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def noise_of(runs: list[dict[str, float]], measure: str) -> float:
    """Of a pair of neighbours, as a ratio: the standard deviation of their change."""
    pairs = zip(runs[::2], runs[1::2], strict=False)
    return statistics.stdev(b[measure] / a[measure] - 1 for a, b in pairs)


def report(path: str, options: argparse.Namespace) -> None:
    runs = [values_of(run) for run in json.loads(Path(path).read_text())["runs"]]
    if len(runs) < 2 * PAIRS:
        sys.exit(f"{path} has {len(runs)} runs; {2 * PAIRS} at least are needed")
    draw = random.Random(1)
    print(f"{path}: {len(runs)} runs")
    for measure in runs[0]:
        noise = 100 * noise_of(runs, measure)
        print(f"  {measure:20} differs by {noise:5.1f} % between neighbours")
    gates = [make_gate(runs, draw, (), 1) for _ in range(options.gates)]
    said = judge(gates, options.judge)
    alarms = [row for row in said if row["decision"] == "regressed"]
    undecided = sum(row["decision"] == "undecided" for row in said)
    decided = len(said) - undecided
    print(
        f"  the same: {len(alarms)} of {decided} decided are false alarms "
        f"({100 * len(alarms) / max(1, decided):.1f} %), {undecided} of {len(said)} undecided, "
        f"{statistics.median(row['runs'] for row in said):.0f} runs a side"
    )
    for measures in CHANGED:
        if any(measure not in runs[0] for measure in measures):
            continue
        caught = []
        for ratio in (1.05, 1.10):
            changed = [make_gate(runs, draw, measures, ratio) for _ in range(options.gates)]
            found = judge(changed, options.judge)
            caught.append(sum(any(m in row["regressed"] for m in measures) for row in found))
        five, ten = (f"{100 * count / options.gates:.0f} %" for count in caught)
        what = " and ".join(measures)
        print(f"  {what:31} 5 % more is caught in {five} of gates, 10 % more in {ten}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("baselines", nargs="+", help="files that --accept made")
    parser.add_argument("--gates", type=int, default=200)
    parser.add_argument("--judge", default=str(ROOT / "build/release/bench/gating/judge_runs"))
    options = parser.parse_args()
    for path in options.baselines:
        report(path, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
