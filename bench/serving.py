#!/usr/bin/env python3
"""How quickly `unstarve serve` shows a run of a day, and what it takes.

    ninja -C build/release write_long_run unstarve
    bench/serving.py --hours 24

The run is made up, and written by the writer of real runs (bench/long_run). A real Chromium opens
its curves and looks closer; times are from the click to the last chart that is drawn. The first
time of each is the run's first reading, later ones are from memory.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

BUILD = Path(__file__).resolve().parents[1] / "build/release"
DRAWN = "() => [...document.querySelectorAll('.plot-area')].filter((a) => a.graph).length >= 4"
CLOSER = """() => {
  const graph = document.querySelector('.plot-area').graph;
  const [from, to] = graph.xAxisRange();
  window.before = performance.getEntriesByType('resource').length;
  graph.getOption('zoomCallback')(from, from + 0.5 * (to - from));
}"""
LOOKED = """() => document.querySelectorAll('.plot-area').length + window.before <=
  performance.getEntriesByType('resource').length"""


def seconds(action: Callable[[], Any]) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began


def told(name: str, times: list[float]) -> None:
    first, *later = times
    print(f"  {name:28} first {first:6.3f} s, later {statistics.median(later):6.3f} s")


def open_curves(page: Page, address: str) -> None:
    page.goto(address + "curves?run=day")
    page.wait_for_function(DRAWN)


def look_closer(page: Page) -> None:
    """At half of what is shown."""
    page.evaluate(CLOSER)
    page.wait_for_function(LOOKED)


def resident_mb(pid: int) -> tuple[float, float]:
    """Now, and at most so far."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kb = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return int(kb["VmRSS"]) * 1024e-6, int(kb["VmHWM"]) * 1024e-6


def measure(folder: Path, repeats: int) -> None:
    server = subprocess.Popen(
        [BUILD / "src/cli/unstarve", "serve", folder, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if program is None:
        sys.exit("there is no Chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        told("the list", [seconds(lambda: page.goto(address)) for _ in range(repeats)])
        told("curves", [seconds(lambda: open_curves(page, address)) for _ in range(repeats)])
        told("a closer look", [seconds(lambda: look_closer(page)) for _ in range(repeats)])
        now, most = resident_mb(server.pid)
        print(f"  the server has {now:.0f} MB, {most:.0f} MB at most")
        report = address + "run?name=day"
        told("the report", [seconds(lambda: page.goto(report)) for _ in range(repeats)])
        print(f"  its page has {len(page.content()) / 1e6:.2f} MB")
        browser.close()
    now, most = resident_mb(server.pid)
    print(f"  the server has {now:.0f} MB, {most:.0f} MB at most, with the report")
    server.terminate()
    server.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unstarve-serving-") as name:
        folder = Path(name) / "runs"
        folder.mkdir()
        program = BUILD / "bench/long_run/write_long_run"
        subprocess.run(
            [program, folder / "day", str(options.hours)], check=True, stdout=subprocess.DEVNULL
        )
        size = sum(file.stat().st_size for file in (folder / "day").rglob("*") if file.is_file())
        print(f"{options.hours:g} hours, {size / 1e6:.0f} MB on the disk")
        measure(folder, options.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
