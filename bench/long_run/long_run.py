#!/usr/bin/env python3
"""What a long run takes: bytes on the disk, seconds and peak memory of its report.

    ninja -C build/release write_long_run unstarve
    bench/long_run/long_run.py --hours 1 24 [--whole]

The job is made up (src/trace/testing/long_job.h) and written by the writer of real runs, without
the time that it would take. --whole writes each run also without thinning it out, and compares the
verdicts.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build" / "release"


def write(run: pathlib.Path, hours: float, options: list[str]) -> Any:
    program = BUILD / "bench" / "long_run" / "write_long_run"
    wrote = subprocess.run(
        [program, run, str(hours), *options], check=True, capture_output=True, text=True
    )
    return json.loads(wrote.stdout)


def report(run: pathlib.Path, json_file: pathlib.Path) -> tuple[float, float, Any]:
    """Seconds, peak MB, and the diagnosis."""
    program = BUILD / "src" / "cli" / "unstarve"
    command = [str(program), "report", str(run), "--json", str(json_file)]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"report {run} ended by {process.returncode}")
    took = time.monotonic() - began
    return took, used.ru_maxrss * 1024 * 1e-6, json.loads(pathlib.Path(json_file).read_text())


def judged(diagnosis: Any) -> tuple[list[tuple[str, str]], dict[str, float]]:
    """What is compared: causes with their details, and every share."""
    causes = [(finding["cause"], finding.get("detail")) for finding in diagnosis["findings"]]
    shares = {
        name: share
        for name, share in diagnosis["partition"].items()
        if isinstance(share, (int, float))
    }
    return causes, shares


def show(name: str, wrote: Any, run: pathlib.Path, folder: pathlib.Path) -> Any:
    took, peak_mb, diagnosis = report(run, folder / "diagnosis.json")
    megabytes = wrote["store_mb"] + wrote["events_mb"]
    parts = [
        f"{wrote['steps']} steps",
        f"run.sqlite {wrote['store_mb']:.1f} MB",
        f"events {wrote['events_mb']:.1f} MB ({megabytes / wrote['hours']:.2f} MB/h in all)",
        f"writer {wrote['seconds']:.0f} s",
        f"longest commit {wrote['slowest_commit_ms']:.0f} ms",
        f"peak {wrote['peak_rss_mb']:.0f} MB",
        f"report {took:.2f} s",
        f"peak {peak_mb:.0f} MB",
    ]
    print(f"{name:>14}: {', '.join(parts)}", flush=True)
    return diagnosis


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--hours", type=float, nargs="+", default=[1, 24])
    parser.add_argument("--step-ms", type=float, default=45)
    parser.add_argument("--whole", action="store_true")
    arguments = parser.parse_args()
    options = ["--step-ms", str(arguments.step_ms)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for hours in arguments.hours:
            run = folder / "run"
            thinned = show(f"{hours:g} h", write(run, hours, options), run, folder)
            shutil.rmtree(run)
            if not arguments.whole:
                continue
            wrote = write(run, hours, [*options, "--whole"])
            whole = show(f"{hours:g} h, whole", wrote, run, folder)
            shutil.rmtree(run)
            (causes, shares), (causes_whole, shares_whole) = judged(thinned), judged(whole)
            apart = max(abs(shares[cause] - shares_whole[cause]) for cause in shares)
            same = (
                "the same causes" if causes == causes_whole else f"{causes} is not {causes_whole}"
            )
            print(f"{'':>14}  {same}; shares differ by {apart:.4f} at most")


if __name__ == "__main__":
    main()
