#!/usr/bin/env python3
"""Do gates catch planted regressions, name what moved, and let the rest pass?

Each plant of tests/regressions becomes a git repository whose last commit is the script before the
change. `unstarve gate --base HEAD` then judges the script with it. Beside its decision stand those
of simpler rules for the very same runs' step times:

    pair 5 %      the first run of each side, 5 %: a comparison of two averages (TraceML's is one)
    3 ranges      three runs of each, whose ranges do not overlap (joules ci)
    mean 5 %      the means of all runs (up to ten), 5 %: hyperfine with a threshold
    asv           Mann-Whitney with p < 0.002, samples that do not overlap, and a factor of 1.1

    bench/gating/zoo.py --seeds 20 --out zoo.jsonl         # goes on where such a file ends
    bench/gating/zoo.py --as-in examples/ci/github_gate.yml --out ci.jsonl augmentation_added ...
    bench/gating/zoo.py --table zoo.jsonl                  # prints its table alone
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/regressions"))
from planting import Plant, plants  # noqa: E402

EMULATED = ("images.py", "vectors.py")


def make_repository(plant: Plant, folder: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.email=zoo@example.org", "-c", "user.name=zoo")
        subprocess.run(("git", *who, *words), cwd=folder, check=True, capture_output=True)

    for i, photo in enumerate(sorted((ROOT / "tests/data/photos").glob("*.jpg"))):
        label = folder / "data" / ("a", "b")[i % 2]
        label.mkdir(parents=True, exist_ok=True)
        (label / photo.name).symlink_to(photo)
    git("init", "-q")
    (folder / ".gitignore").write_text("data/\nruns/\n")
    (folder / plant.script).write_text(plant.before())
    git("add", "-A")
    git("commit", "-qm", "before")
    (folder / plant.script).write_text(plant.after())


def options_of_workflow(path: Path) -> list[str]:
    """What a workflow gives `unstarve gate` beside the base, the command and files to write."""
    said = path.read_text().replace("\\\n", " ").split("unstarve gate ", 1)[1].split(" -- ")[0]
    words = said.split()
    kept: list[str] = []
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name not in ("--base", "--json", "--junit", "--markdown"):
            kept += [name, value]
    return kept


def gate(plant: Plant, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="unstarve-zoo-") as name:
        folder = Path(name)
        make_repository(plant, folder)
        command = [options.unstarve, "gate", "--base", "HEAD", "--json", "result.json"]
        if options.as_in:
            command += options_of_workflow(Path(options.as_in))
        else:
            command += ["--seconds", str(options.seconds)]
            command += ["--budget-minutes", str(options.minutes)]
        if plant.script in EMULATED and "--emulate" not in command:
            command += ["--emulate", "a100"]
        command += ["--", options.python, plant.script, "data"]
        began = time.monotonic()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        took_s = time.monotonic() - began
        path = folder / "result.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        if not found:
            print(f"{plant.name}: exit {done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
        shutil.rmtree(folder / "runs", ignore_errors=True)
    moved = found.get("moved") or {}
    part, reason = moved.get("part", ""), (moved.get("reason") or {}).get("kind", "")
    return {
        "plant": plant.name,
        "kind": plant.kind,
        "decision": found.get("decision", "failed"),
        "sentence": found.get("sentence", ""),
        "says": found.get("says", ""),
        "moved": part,
        "reason": reason,
        "named": plant.is_named(part, reason),
        "runs": found.get("runs", {}).get("now", 0),
        "seconds": took_s,
        "judged": found.get("judged", []),
    }


def step_times(row: dict[str, Any]) -> tuple[list[float], list[float]]:
    for measure in row["judged"]:
        if measure["id"] == "step_time":
            return measure["base_runs"], measure["now_runs"]
    return [], []


def by_pair(a: list[float], b: list[float]) -> bool:
    return b[0] / a[0] > 1.05


def by_ranges(a: list[float], b: list[float]) -> bool:
    return min(b[:3]) > max(a[:3])


def by_means(a: list[float], b: list[float]) -> bool:
    return statistics.fmean(b[:10]) / statistics.fmean(a[:10]) > 1.05


def by_asv(a: list[float], b: list[float]) -> bool:
    """asv's test of two sets of samples: significant, apart, and by a factor."""
    if statistics.median(b) / statistics.median(a) <= 1.1:
        return False
    above = sum((y > x) + 0.5 * (y == x) for x in a for y in b)
    n, m = len(a), len(b)
    z = (above - n * m / 2) / (n * m * (n + m + 1) / 12) ** 0.5
    p = 2 * (1 - statistics.NormalDist().cdf(abs(z)))
    ranked_a, ranked_b = sorted(a), sorted(b)
    return p < 0.002 and ranked_b[0] > ranked_a[-1]


RULES: dict[str, Callable[[list[float], list[float]], bool]] = {
    "pair 5 %": by_pair,
    "3 ranges": by_ranges,
    "mean 5 %": by_means,
    "asv": by_asv,
}


def share(count: int, of: int) -> str:
    return f"{count} of {of}" if of else "-"


def print_table(rows: list[dict[str, Any]]) -> None:
    rows = [row for row in rows if row["decision"] != "failed"]
    slower = [row for row in rows if row["kind"] == "slower"]
    harmless = [row for row in rows if row["kind"] == "same"]
    trades = [row for row in rows if row["kind"] == "trade"]
    decided = [row for row in harmless if row["decision"] != "undecided"]
    caught = [row for row in slower if row["decision"] == "regressed"]
    named = [row for row in caught if row["named"]]
    print(f"{'':10} {'caught':>12} {'false alarms':>14} {'trades let pass':>16}")
    alarms = sum(row["decision"] == "regressed" for row in decided)
    passed = sum(row["decision"] != "regressed" for row in trades)
    print(
        f"{'gate':10} {share(len(caught), len(slower)):>12} {share(alarms, len(decided)):>14} "
        f"{share(passed, len(trades)):>16}"
    )
    for name, rule in RULES.items():
        said = {id(row): rule(*step_times(row)) for row in rows if step_times(row)[0]}
        found = [sum(said.get(id(row), False) for row in some) for some in (slower, harmless)]
        kept = sum(not said.get(id(row), False) for row in trades)
        print(
            f"{name:10} {share(found[0], len(slower)):>12} {share(found[1], len(harmless)):>14} "
            f"{share(kept, len(trades)):>16}"
        )
    undecided = len(harmless) - len(decided)
    print(f"undecided of the same: {share(undecided, len(harmless))}")
    print(f"what moved is named: {share(len(named), len(caught))} of those caught")
    if rows:
        runs = statistics.median(row["runs"] for row in rows)
        seconds = statistics.median(row["seconds"] for row in rows)
        print(f"runs a side {runs:.0f}, a gate {seconds:.0f} s (medians), {platform.machine()}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plants", nargs="*", help="names; all without")
    parser.add_argument("--seeds", type=int, default=1, help="gates of each plant")
    parser.add_argument("--seconds", type=float, default=4, help="of each run")
    parser.add_argument("--minutes", type=float, default=6, help="of each gate")
    parser.add_argument("--as-in", help="take the gate's options from this workflow")
    parser.add_argument("--out", default="zoo.jsonl", help="one line a gate; goes on where it ends")
    parser.add_argument("--table", help="print the table of this file and run nothing")
    parser.add_argument("--unstarve", default=str(ROOT / "build/release/src/cli/unstarve"))
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    out = Path(options.table or options.out)
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if options.table is None:
        chosen = [one for one in plants() if not options.plants or one.name in options.plants]
        for seed in range(options.seeds):
            for plant in chosen:
                if sum(row["plant"] == plant.name for row in rows) > seed:
                    continue
                row = gate(plant, options)
                rows.append(row)
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(
                    f"{plant.name:26} {plant.kind:7} {row['decision']:10} {row['runs']:2} runs "
                    f"{row['seconds']:5.0f} s  {row['moved']} {row['reason']}",
                    flush=True,
                )
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
