#!/usr/bin/env python3
"""Runs `unstarve demo --json` several times and says how often its story and predictions held.

The story: the GPU starves because of its input, each remedy is tried, and unstarve's loader feeds
it from a folder, from its cache and from shards. Prints one line per run, one per remedy and a
summary; exits 1 when the story failed in more runs than --allow.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REMEDIES = ("more_workers", "unstarve_loader", "unstarve_cache", "unstarve_shards")


def run_demo(unstarve: Path, extra: list[str]) -> tuple[dict[str, Any], float]:
    """One demo; returns its JSON object and its wall time in seconds."""
    started = time.monotonic()
    done = subprocess.run(
        [str(unstarve), "demo", "--json", "-", *extra],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    elapsed = time.monotonic() - started
    if done.returncode != 0:
        raise SystemExit(f"unstarve demo exited {done.returncode}; run it by hand to see why")
    return json.loads(done.stdout), elapsed


def number(value: Any) -> float:
    """A JSON number, or NaN for an absent one."""
    return float(value) if isinstance(value, (int, float)) else float("nan")


def told(entry: dict[str, Any]) -> str:
    """One remedy of one run."""
    predicted = entry["predicted"]
    return (
        f"{entry['remedy']} {number(predicted.get('speedup')):.2f} "
        f"[{number(predicted.get('low')):.2f}..{number(predicted.get('high')):.2f}] "
        f"measured {entry['measured']['speedup']:.2f} {'held' if entry['held'] else 'MISSED'} "
        f"{number(entry['after']['cpu_cores']):.2f} cores"
    )


def errors(entries: list[dict[str, Any]]) -> str:
    """How far the predictions were off; of a remedy without one nothing is known."""
    ratios = [number(e["predicted"].get("speedup")) / e["measured"]["speedup"] - 1 for e in entries]
    known = [ratio for ratio in ratios if not math.isnan(ratio)]
    if not known:
        return "error: unknown"
    sizes = [abs(ratio) for ratio in known]
    return (
        f"error: median {statistics.median(sizes):.1%} (signed {statistics.median(known):+.1%}), "
        f"root mean square {math.sqrt(statistics.fmean(e * e for e in known)):.1%}, "
        f"largest {max(sizes):.1%}"
    )


def summary(entries: list[dict[str, Any]]) -> str:
    """One remedy over all runs."""
    if not entries:
        return "not tried"
    aus = [number(entry["after"]["au"]) for entry in entries]
    cores = [number(entry["after"]["cpu_cores"]) for entry in entries]
    return (
        f"held in {sum(bool(entry['held']) for entry in entries)} of {len(entries)}, "
        f"AU {min(aus):.1%} to {max(aus):.1%}, {min(cores):.2f} to {max(cores):.2f} cores, "
        f"{errors(entries)}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--allow", type=int, default=1, help="runs that may fail (default 1)")
    parser.add_argument(
        "--unstarve", type=Path, default=ROOT / "build/release/src/cli/unstarve", help="the program"
    )
    parser.add_argument("rest", nargs="*", help="passed on to `unstarve demo`")
    args = parser.parse_args()

    held_runs = story_runs = 0
    tried: dict[str, list[dict[str, Any]]] = {remedy: [] for remedy in REMEDIES}
    for run in range(args.runs):
        result, elapsed = run_demo(args.unstarve, args.rest)
        verification = result["verification"]
        before = number(verification[0]["before"]["au"])
        ours = [e["after"] for e in verification if e["remedy"].startswith("unstarve_")]
        after = min(number(entry["au"]) for entry in ours)
        cause = result["findings"][0]["cause"]
        missing = set(REMEDIES) - {entry["remedy"] for entry in verification}
        story = before < 0.5 and after >= 0.9 and cause == "input_wait" and not missing
        held_runs += all(entry["held"] for entry in verification)
        story_runs += story
        for entry in verification:
            tried[entry["remedy"]].append(entry)
        print(
            f"run {run + 1:2d}: AU {before:.1%} -> {after:.1%}, {cause}, "
            f"{'; '.join(map(told, verification))}, "
            f"{''.join(f'{remedy} NOT TRIED, ' for remedy in sorted(missing))}{elapsed:.0f} s",
            flush=True,
        )
    for remedy, entries in tried.items():
        print(f"{remedy}: {summary(entries)}")
    print(
        f"story held in {story_runs} of {args.runs}, every prediction held in {held_runs} of "
        f"{args.runs}, prediction {errors([e for entries in tried.values() for e in entries])}"
    )
    return 0 if min(held_runs, story_runs) >= args.runs - args.allow else 1


if __name__ == "__main__":
    sys.exit(main())
