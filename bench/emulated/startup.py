"""What the emulation costs programs that use no GPU: the start of each, with and without it.

    python bench/emulated/startup.py [--runs 200] [PROGRAM ...]

Starts are measured in turns, so that the machine's load touches both alike; the median of the
differences is shown, in microseconds, and the tenth and ninetieth percentile.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release")) / "src/cli/unstarve"
PROGRAMS = ["true", "bash -c :", "ffmpeg -version", f"{sys.executable} -c pass"]
SHOW_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)), flush=True); input()"


def start_us(command: list[str], environment: dict[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begun) * 1e6


def measure(command: list[str], emulated: dict[str, str], runs: int) -> None:
    plain = {key: value for key, value in emulated.items() if key != "LD_AUDIT"}
    alone, costs = [], []
    for turn in range(runs + 5):
        without, within = start_us(command, plain), start_us(command, emulated)
        if turn < 5:
            continue  # files come into the page cache
        alone.append(without)
        costs.append(within - without)
    tenths = statistics.quantiles(costs, n=10)
    print(
        f"{' '.join(command):44} {statistics.median(alone):9.0f} {statistics.median(costs):9.0f}"
        f"   {tenths[0]:.0f} .. {tenths[-1]:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    options = parser.parse_args()
    holder = subprocess.Popen(
        [UNSTARVE, "emulate", "a100", "--", sys.executable, "-c", SHOW_ENVIRONMENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout
    environment = json.loads(holder.stdout.readline())
    print(f"{'program':44} {'alone us':>9} {'cost us':>9}   p10 .. p90")
    for program in options.programs:
        command = program.split()
        if shutil.which(command[0]):
            measure(command, environment, options.runs)
    holder.communicate("\n")


if __name__ == "__main__":
    main()
