#!/usr/bin/env python3
"""Runs `unstarve demo --json` several times and says how often its story and predictions held.

Prints one line per run and a summary; exits 1 when the story failed in more runs than --allow.
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--allow", type=int, default=2, help="runs that may fail (default 2)")
    parser.add_argument(
        "--unstarve", type=Path, default=ROOT / "build/release/src/cli/unstarve", help="the program"
    )
    parser.add_argument("rest", nargs="*", help="passed on to `unstarve demo`")
    args = parser.parse_args()

    held_runs = story_runs = 0
    errors: list[float] = []
    for run in range(args.runs):
        result, elapsed = run_demo(args.unstarve, args.rest)
        verification = result["verification"]
        before = number(verification[0]["before"]["au"])
        ours = [e["after"] for e in verification if e["remedy"].startswith("unstarve_")]
        after = min(number(entry["au"]) for entry in ours)
        held = [bool(entry["held"]) for entry in verification]
        cause = result["findings"][0]["cause"]
        story = before < 0.5 and after >= 0.9 and cause == "input_wait"
        held_runs += all(held)
        story_runs += story
        parts = []
        for entry in verification:
            predicted, measured = entry["predicted"], entry["measured"]["speedup"]
            errors.append(abs(predicted["speedup"] / measured - 1))
            parts.append(
                f"{entry['remedy']} {predicted['speedup']:.2f} "
                f"[{predicted['low']:.2f}..{predicted['high']:.2f}] measured {measured:.2f} "
                f"{'held' if entry['held'] else 'MISSED'} "
                f"{number(entry['after']['cpu_cores']):.2f} cores"
            )
        print(
            f"run {run + 1:2d}: AU {before:.1%} -> {after:.1%}, {cause}, "
            f"{'; '.join(parts)}, {elapsed:.0f} s",
            flush=True,
        )
    print(
        f"story held in {story_runs} of {args.runs}, every prediction held in {held_runs} of "
        f"{args.runs}, prediction error: median {statistics.median(errors):.1%}, root mean square "
        f"{math.sqrt(statistics.fmean(e * e for e in errors)):.1%}, largest {max(errors):.1%}"
    )
    return 0 if min(held_runs, story_runs) >= args.runs - args.allow else 1


if __name__ == "__main__":
    sys.exit(main())
