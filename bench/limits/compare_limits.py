#!/usr/bin/env python3
"""`unstarve limits` beside STREAM, fio and OpenBLAS: the same roofs, in turns, in one run.

Prints a line for each roof with the medians of the repeats and ours by theirs; the target is within
10 %. A machine that others use meanwhile moves both, each at another time: the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = 0.10
STREAM_LINE = re.compile(r"^(Copy|Scale|Add|Triad):\s+([0-9.]+)", re.MULTILINE)
BLAS = """
import json, sys, time
import numpy as np
n = int(sys.argv[1])
a = np.random.rand(n, n).astype(np.float32)
b = np.random.rand(n, n).astype(np.float32)
out = np.empty((n, n), np.float32)
a.dot(b, out)
best = 1e9
until = time.perf_counter() + float(sys.argv[2])
while time.perf_counter() < until:
    start = time.perf_counter()
    a.dot(b, out)
    best = min(best, time.perf_counter() - start)
print(json.dumps(2 * n**3 / best))
"""

Rates = dict[str, list[float]]


def ours(arguments: list[str], seconds: float) -> list[dict[str, object]]:
    """The roofs that one call of ours measures."""
    command = [str(ROOT / "build/release/src/cli/unstarve"), "limits", "--json"]
    command += ["--seconds", str(seconds), *arguments]
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            command,
            env=dict(os.environ, XDG_CACHE_HOME=cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    roofs: list[dict[str, object]] = json.loads(done.stdout)["roofs"]
    return roofs


def compile_stream(source: Path, array_bytes: int, folder: Path) -> Path:
    """STREAM with arrays of this size."""
    program = folder / "stream"
    defines = [f"-DSTREAM_ARRAY_SIZE={array_bytes // 8}", "-DNTIMES=20"]
    options = ["-O3", "-march=native", "-fopenmp", "-mcmodel=medium"]
    subprocess.run(["gcc", *options, *defines, str(source), "-o", str(program)], check=True)
    return program


def compare_memory(source: Path, repeats: int, folder: Path) -> tuple[Rates, Rates]:
    """STREAM's four kernels by one thread and by all."""
    first = ours(["--only", "memory"], 1)
    array_bytes = int(first[0]["conditions"]["array_bytes"])  # type: ignore[index]
    program = compile_stream(source, array_bytes, folder)
    counts = sorted({int(roof["conditions"]["threads"]) for roof in first})  # type: ignore[index]
    mine: Rates = defaultdict(list)
    theirs: Rates = defaultdict(list)
    for _ in range(repeats):
        for threads in counts:
            environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
            done = subprocess.run(
                [program], env=environment, capture_output=True, text=True, check=True
            )
            for kernel, rate in STREAM_LINE.findall(done.stdout):
                theirs[f"memory.{kernel.lower()}.{threads}_threads"].append(float(rate) * 1e6)
        for roof in ours(["--only", "memory"], 2.0 * len(counts)):
            # The compiler makes STREAM's copy a memcpy, whose stores go past the caches; the other
            # kernels have plain stores.
            name = str(roof["name"])
            key = "non_temporal_bytes_per_s" if ".copy." in name else "plain_bytes_per_s"
            mine[name].append(float(roof["conditions"][key]))  # type: ignore[index]
    return mine, theirs


def fio(file: Path, pattern: str, block: str, jobs: int, seconds: float) -> float:
    """Bytes a second, by threads that read with pread(2), as ours do."""
    done = subprocess.run(
        [
            *("fio", "--name=reads", f"--filename={file}", f"--rw={pattern}", f"--bs={block}"),
            *("--direct=1", "--ioengine=psync", "--thread", f"--numjobs={jobs}", "--time_based"),
            *(f"--runtime={seconds}", "--ramp_time=0.3", "--group_reporting", "--norandommap"),
            *("--invalidate=0", "--output-format=json"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    text = done.stdout[done.stdout.index("{") :]
    return float(json.loads(text)["jobs"][0]["read"]["bw_bytes"])


def compare_disk(folder: Path, repeats: int) -> tuple[Rates, Rates]:
    """Reads past the page cache, some depths."""
    file = folder / "fio.scratch"
    size = 1 << 30
    with file.open("wb") as scratch:
        for _ in range(size >> 22):
            scratch.write(os.urandom(1 << 22))
        os.fsync(scratch.fileno())
    kinds = [
        ("disk.sequential.depth_1", "read", "1m", 1),
        *((f"disk.random_4k.depth_{n}", "randread", "4k", n) for n in (1, 8, 32)),
        *((f"disk.random_128k.depth_{n}", "randread", "128k", n) for n in (1, 8, 32)),
    ]
    mine: Rates = defaultdict(list)
    theirs: Rates = defaultdict(list)
    for _ in range(repeats):
        for name, pattern, block, jobs in kinds:
            theirs[name].append(fio(file, pattern, block, jobs, 1.0))
        for roof in ours(["--only", "disk", "--disk", str(folder)], 20):
            if roof["name"] in theirs:
                median = float(roof["conditions"]["median"])  # type: ignore[index]
                mine[str(roof["name"])].append(median)
    file.unlink()
    return mine, theirs


def compare_gemm(python: str, repeats: int) -> tuple[Rates, Rates]:
    """float32: torch's library, as ours measures it, beside OpenBLAS."""
    mine: Rates = defaultdict(list)
    theirs: Rates = defaultdict(list)
    name = "gemm.cpu.float32"
    for _ in range(repeats):
        best = 0.0
        for size in (1024, 2048, 4096):
            done = subprocess.run(
                [python, "-c", BLAS, str(size), "1"], capture_output=True, text=True, check=True
            )
            best = max(best, float(done.stdout))
        theirs[name].append(best)
        for roof in ours(["--only", "gemm", "--python", python], 6):
            mine[str(roof["name"])].append(float(str(roof["value"])))
    return mine, theirs


def show(peer: str, mine: Rates, theirs: Rates) -> list[dict[str, object]]:
    """A line for each roof; those without a peer are said."""
    rows: list[dict[str, object]] = []
    for name, values in mine.items():
        our_median = statistics.median(values)
        if name not in theirs:
            print(f"{name:32} {our_median:12.4g}        (no peer)")
            continue
        their_median = statistics.median(theirs[name])
        ratio = our_median / their_median
        verdict = "" if abs(ratio - 1) <= TARGET else "  MISSED"
        print(f"{name:32} {our_median:12.4g} {their_median:12.4g} {ratio:6.3f}{verdict}  ({peer})")
        rows.append({"roof": name, "peer": peer, "ours": values, "theirs": theirs[name]})
    return rows


def main() -> None:
    """Compares what there are peers for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stream", type=Path, help="STREAM's stream.c")
    parser.add_argument("--disk", type=Path, default=Path(), help="a folder on the disk")
    parser.add_argument("--python", default=sys.executable, help="with torch and NumPy")
    parser.add_argument("--only", nargs="*", default=["memory", "disk", "gemm"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where all values go")
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, {options.repeats} repeats")
    print(f"{'roof':32} {'ours':>12} {'theirs':>12} {'ours/theirs':>6}")
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(dir=options.disk) as made:
        folder = Path(made)
        if "memory" in options.only and options.stream:
            rows += show("STREAM", *compare_memory(options.stream, options.repeats, folder))
        elif "memory" in options.only:
            print("memory.*: not compared: name STREAM's stream.c by --stream")
        if "disk" in options.only and shutil.which("fio"):
            rows += show("fio", *compare_disk(folder, options.repeats))
        elif "disk" in options.only:
            print("disk.*: not compared: fio is not installed")
        if "gemm" in options.only:
            rows += show("OpenBLAS", *compare_gemm(options.python, options.repeats))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
