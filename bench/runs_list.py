#!/usr/bin/env python3
"""How long does `unstarve runs list` take over many runs, with and without its index?

Copies recorded runs (tests/data/runs) until a folder holds as many as are asked for. It then times
the command: without an index, which reads every run and writes one; with it; with it and one run
that is new; and a query over all runs. Shown are the medians of the repeats.

    PATH=build/release/src/cli:$PATH python bench/runs_list.py --runs 1000
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

RECORDED = Path(__file__).resolve().parent.parent / "tests/data/runs"
INDEX = ".index.sqlite"
QUERY = "SELECT cause, count(*) FROM runs GROUP BY 1"
# An index does not trust what was changed less than 2 s before it was written.
TICKS_S = 2.5


def make_runs(folder: Path, count: int) -> None:
    recorded = sorted(path for path in RECORDED.iterdir() if (path / "run.sqlite").exists())
    for number in range(count):
        source = recorded[number % len(recorded)]
        run = folder / f"{number:06}_{source.name}"
        run.mkdir()
        shutil.copyfile(source / "run.sqlite", run / "run.sqlite")


def seconds_of(*command: str) -> float:
    began = time.perf_counter()
    subprocess.run(["unstarve", *command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure(folder: Path, repeats: int) -> dict[str, float]:
    runs = str(folder)
    listed = ("runs", "list", runs)
    times: dict[str, list[float]] = {"without": [], "with": [], "one_new": [], "query": []}
    new = folder / "new"
    for _ in range(repeats):
        (folder / INDEX).unlink(missing_ok=True)
        times["without"].append(seconds_of(*listed))
        times["with"].append(seconds_of(*listed))
        times["query"].append(seconds_of("query", runs, QUERY))
        new.mkdir()
        shutil.copyfile(next(folder.glob("0*/run.sqlite")), new / "run.sqlite")
        times["one_new"].append(seconds_of(*listed))
        shutil.rmtree(new)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "runs"
        folder.mkdir()
        make_runs(folder, options.runs)
        os.sync()
        time.sleep(TICKS_S)
        seconds = measure(folder, options.repeats)
        index_bytes = (folder / INDEX).stat().st_size
    print(f"{options.runs} runs, median of {options.repeats}")
    print(f"list without an index, which it then writes   {seconds['without']:7.3f} s")
    print(f"list with the index                           {seconds['with']:7.3f} s")
    print(f"list with the index, and one run that is new  {seconds['one_new']:7.3f} s")
    print(f"query over all runs, with the index           {seconds['query']:7.3f} s")
    print(f"the index has                                 {index_bytes / 1e6:7.2f} MB")
    if options.json:
        figures = {"runs": options.runs, "index_bytes": index_bytes, "seconds": seconds}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
