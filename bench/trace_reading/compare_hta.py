#!/usr/bin/env python3
"""unstarve beside HolisticTraceAnalysis (HTA) on one long trace: time, memory, same answer.

Both run in processes of their own, in turns; medians are compared. HTA is timed inside its process,
after Python's `import hta`; unstarve as a whole process, from exec to exit.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests/data/traces/ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"
WORKER = Path(__file__).with_name("hta_worker.py")
MAKER = Path(__file__).with_name("make_trace.py")
HTA = "HolisticTraceAnalysis==0.5.0"
BUSY_TOLERANCE = 0.02


@dataclass(frozen=True)
class Child:
    """One finished process."""

    output: str
    wall_s: float
    cpu_s: float
    peak_rss_bytes: int


def run(command: list[str]) -> Child:
    """Runs a command to its end; ends the program when it fails."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return Child(output, wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def hta_python() -> Path:
    """A Python that has HTA, set up in .cache/hta on first use."""
    folder = ROOT / ".cache/hta"
    python = folder / "bin/python"
    if not python.exists():
        print(f"installing {HTA} into {folder} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", HTA], check=True)
    return python


def our_command() -> list[str]:
    """`unstarve diagnose --json` of the release build."""
    return [str(ROOT / "build/release/src/cli/unstarve"), "diagnose", "--json"]


def busy_ratio(output: str) -> float:
    """Share of the span in which the device was busy, as unstarve (or read_trace) prints it."""
    result = json.loads(output)
    device = result["devices"][0] if "devices" in result else result
    return float(device["gpu_busy_ratio"])


def median(values: list[float]) -> float:
    """The median, rounded to what a clock can tell."""
    return round(statistics.median(values), 6)


def compare(trace: Path, command: list[str], repeats: int) -> dict[str, object]:
    """Checks that both give the same answer, then times them in turns."""
    theirs_command = [str(hta_python()), str(WORKER), str(trace)]
    ours_command = [*command, str(trace)]
    answers = (
        busy_ratio(run(ours_command).output),
        float(json.loads(run(theirs_command).output)["busy_ratio"]),
    )
    if abs(answers[0] - answers[1]) > BUSY_TOLERANCE:
        sys.exit(f"they do not agree: busy {answers[0]:.4f} (unstarve), {answers[1]:.4f} (HTA)")
    ours: list[Child] = []
    theirs: list[Child] = []
    for _ in range(repeats):
        theirs.append(run(theirs_command))
        ours.append(run(ours_command))
    hta = [json.loads(child.output) for child in theirs]
    unstarve_s = median([child.wall_s for child in ours])
    unstarve_cpu_s = median([child.cpu_s for child in ours])
    load_s = median([one["load_wall_s"] for one in hta])
    analyse_s = median([one["analyse_wall_s"] for one in hta])
    load_cpu_s = median([one["load_cpu_s"] for one in hta])
    analyse_cpu_s = median([one["analyse_cpu_s"] for one in hta])
    hta_peak = median([float(child.peak_rss_bytes) for child in theirs])
    unstarve_peak = median([float(child.peak_rss_bytes) for child in ours])
    return {
        "trace_bytes": trace.stat().st_size,
        "repeats": repeats,
        "command": " ".join(command),
        "busy_ratio": {"unstarve": round(answers[0], 4), "hta": round(answers[1], 4)},
        "wall_s": {"unstarve": unstarve_s, "hta_load": load_s, "hta_analyse": analyse_s},
        "cpu_s": {"unstarve": unstarve_cpu_s, "hta_load": load_cpu_s, "hta_analyse": analyse_cpu_s},
        "peak_rss_bytes": {"unstarve": unstarve_peak, "hta": hta_peak},
        "times_faster": {
            "read_and_analyse_wall": round((load_s + analyse_s) / unstarve_s, 1),
            "read_and_analyse_cpu": round((load_cpu_s + analyse_cpu_s) / unstarve_cpu_s, 1),
            "hta_analyse_only_wall": round(analyse_s / unstarve_s, 2),
            "hta_analyse_only_cpu": round(analyse_cpu_s / unstarve_cpu_s, 2),
        },
        "memory_ratio": round(unstarve_peak / hta_peak, 4),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", type=Path, help="a trace to read; default: one made here")
    parser.add_argument("--megabytes", type=float, default=50, help="size of the one made here")
    parser.add_argument(
        "--command",
        nargs="+",
        default=our_command(),
        help="program that takes a trace and prints JSON with gpu_busy_ratio",
    )
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    trace = options.trace
    if trace is None:
        trace = ROOT / ".cache/trace_reading.json"
        trace.parent.mkdir(exist_ok=True)
        # In a process of its own: a child's peak memory starts at its parent's (see README.md).
        maker = [
            sys.executable,
            str(MAKER),
            str(SOURCE),
            str(trace),
            "--megabytes",
            str(options.megabytes),
        ]
        subprocess.run(maker, check=True, stdout=sys.stderr)
    print(json.dumps(compare(trace, options.command, options.repeats), indent=2))


if __name__ == "__main__":
    main()
