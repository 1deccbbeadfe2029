#!/usr/bin/env python3
"""`unstarve roofline` beside STREAM, likwid-bench, fio, OpenBLAS and oneDNN, in turns.

Ours and theirs run one after the other, who is first changes, and what counts is the median of the
ratios of these pairs: what a machine does to both at once goes out of it. The target is within
10 %. A pair during which others used the CPUs is run again, while there is time for it, and does
not count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
HERE = Path(__file__).resolve().parent
TARGET = 0.10
STREAM_LINE = re.compile(r"^(Copy|Scale|Add|Triad):\s+([0-9.]+)", re.MULTILINE)
AS_IT_IS = ", as gcc has it"
GEMM_SIZES = (1024, 2048, 4096)
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
Measured = dict[str, float]


def output_of(command: list[str | Path], **environment: str) -> str:
    """What a program prints; it has to end well."""
    done = subprocess.run(
        command,
        env=dict(os.environ, **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return done.stdout


def ours(arguments: list[str], seconds: float, cpus: str = "") -> list[dict[str, object]]:
    """The roofs that one call of ours measures; `cpus`: on which alone."""
    command: list[str | Path] = ["taskset", "-c", cpus] if cpus else []
    command += [BUILD / "src/cli/unstarve", "roofline", "--json"]
    command += ["--seconds", str(seconds), *arguments]
    with tempfile.TemporaryDirectory() as cache:
        text = output_of(command, XDG_CACHE_HOME=cache)
    roofs: list[dict[str, object]] = json.loads(text)["roofs"]
    return roofs


def busy_s() -> float:
    """CPU time of the whole machine, less our own and that of children that have ended."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    user, nice, system, _, _, irq, softirq = ticks[:7]
    busy = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        busy -= used.ru_utime + used.ru_stime
    return busy


@dataclass
class Quiet:
    """When a pair counts: others use at most so many CPUs, on average, while it is measured."""

    others_cpus: float
    end_s: float  # time.monotonic(): until then it is waited for, and tried again

    def wait(self) -> None:
        """Sleeps while others use more."""
        while time.monotonic() < self.end_s:
            before_s = busy_s()
            time.sleep(1)
            if busy_s() - before_s <= self.others_cpus:
                return


class Pairs:
    """What both measured, in pairs; those that others disturb are run again."""

    def __init__(self, quiet: Quiet) -> None:
        self.quiet = quiet
        self.others_cpus: list[float] = []
        self.mine: Rates = defaultdict(list)
        self.theirs: Rates = defaultdict(list)
        self.disturbed = 0

    def turn(
        self, number: int, mine: Callable[[], Measured], theirs: Callable[[], Measured]
    ) -> None:
        """Both once; of every second pair theirs first."""
        while True:
            self.quiet.wait()
            start_s, start_busy_s = time.monotonic(), busy_s()
            first, second = (mine, theirs) if number % 2 == 0 else (theirs, mine)
            results = {first: first(), second: second()}
            others_cpus = (busy_s() - start_busy_s) / (time.monotonic() - start_s)
            if others_cpus <= self.quiet.others_cpus:
                break
            self.disturbed += 1
            if time.monotonic() > self.quiet.end_s:
                return
        self.others_cpus.append(others_cpus)
        for name, value in results[mine].items():
            self.mine[name].append(value)
        for name, value in results[theirs].items():
            self.theirs[name].append(value)


def usable_cpus(count: int) -> str:
    """The first so many CPUs, as taskset takes them."""
    return ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:count])


class Stream:
    """STREAM with arrays of our size: as gcc compiles it for this CPU, and at its best.

    gcc takes vectors of 256 bits where the CPU has longer ones too, it makes of the copy a call of
    memcpy, and STREAM does not ask for huge pages: its best has the better of both widths, the copy
    as a loop, and huge pages, of each kernel by itself.
    """

    def __init__(self, source: Path, array_bytes: int, folder: Path) -> None:
        defines = [f"-DSTREAM_ARRAY_SIZE={array_bytes // 8}", "-DNTIMES=10"]
        options = ["-O3", "-march=native", "-fopenmp", "-mcmodel=medium"]
        loops = "-fno-tree-loop-distribute-patterns"
        widths = ["-mprefer-vector-width=256"]
        if has_avx512():
            widths.append("-mprefer-vector-width=512")
        self.preload = folder / "huge_pages.so"
        words = ["-O2", "-shared", "-fPIC", str(HERE / "huge_pages.c"), "-o", str(self.preload)]
        subprocess.run(["gcc", *words], check=True)
        self.as_it_is = folder / "stream"
        self.tuned = [folder / f"stream{width}" for width in widths]
        compiled: list[tuple[Path, list[str]]] = [(self.as_it_is, [])]
        compiled += [(self.tuned[i], [loops, width]) for i, width in enumerate(widths)]
        for program, more in compiled:
            words = [*options, *more, *defines, str(source), "-o", str(program)]
            subprocess.run(["gcc", *words], check=True)

    def run(self, program: Path, threads: int, **environment: str) -> Measured:
        """What one program says, by roof."""
        text = output_of(
            ["taskset", "-c", usable_cpus(threads), program],
            OMP_NUM_THREADS=str(threads),
            OMP_PROC_BIND="true",
            **environment,
        )
        return {
            f"memory.{kernel.lower()}.{threads}_threads": float(rate) * 1e6
            for kernel, rate in STREAM_LINE.findall(text)
        }

    def rates(self, threads: int) -> Measured:
        """The best of its ways, and as it is under names of its own."""
        ways = [self.run(each, threads, LD_PRELOAD=str(self.preload)) for each in self.tuned]
        found = {name: max(way[name] for way in ways) for name in ways[0]}
        for name, rate in self.run(self.as_it_is, threads).items():
            found[name + AS_IT_IS] = rate
        return found


def has_avx512() -> bool:
    """Whether this CPU has vectors of 512 bits."""
    return "avx512f" in Path("/proc/cpuinfo").read_text()


def likwid(threads: int, array_bytes: int) -> Measured:
    """likwid-bench's kernels in assembly, past the caches; means of a second, on huge pages."""
    kernels = {"copy": "copy_mem_avx512", "triad": "stream_mem_avx512"}
    found: Measured = {}
    for name, kernel in kernels.items():
        program = kernel if has_avx512() else kernel.removesuffix("512")
        arrays = 2 if name == "copy" else 3
        size = f"S0:{arrays * array_bytes // 1000}kB:{threads}"
        text = output_of(
            ["likwid-bench", "-t", program, "-w", size], GLIBC_TUNABLES="glibc.malloc.hugetlb=1"
        )
        rate = re.search(r"^MByte/s:\s+([0-9.]+)", text, re.MULTILINE)
        if rate:
            found[f"memory.{name}.{threads}_threads"] = float(rate[1]) * 1e6
    return found


def our_memory(threads: int, *, plain: bool) -> Measured:
    """Ours by so many threads on as many CPUs: with plain stores the best, as STREAM has it, and
    with others the median.
    """
    found: Measured = {}
    for roof in ours(["--only", "memory"], 1.5 * threads, usable_cpus(threads)):
        name = str(roof["name"])
        conditions: dict[str, object] = roof["conditions"]  # type: ignore[assignment]
        if not name.endswith(f".{threads}_threads"):
            continue
        if plain:
            found[name] = float(str(conditions["plain_bytes_per_s"]))
            found[name + AS_IT_IS] = float(str(roof["value"]))
        elif conditions["stores"] == "non_temporal":
            found[name] = float(str(conditions["median"]))
    return found


def compare_memory(source: Path, repeats: int, folder: Path, quiet: Quiet) -> tuple[Pairs, Pairs]:
    """STREAM's four kernels and two of likwid-bench's, by one thread and by all."""
    first = ours(["--only", "memory"], 1)
    array_bytes = int(first[0]["conditions"]["array_bytes"])  # type: ignore[index]
    stream = Stream(source, array_bytes, folder)
    counts = sorted({int(roof["conditions"]["threads"]) for roof in first})  # type: ignore[index]
    plain, past_caches = Pairs(quiet), Pairs(quiet)
    for repeat in range(repeats):
        for threads in counts:
            plain.turn(
                repeat, partial(our_memory, threads, plain=True), partial(stream.rates, threads)
            )
            if shutil.which("likwid-bench"):
                past_caches.turn(
                    repeat,
                    partial(our_memory, threads, plain=False),
                    partial(likwid, threads, array_bytes),
                )
    return plain, past_caches


def fio(file: Path, pattern: str, block: int, jobs: int, seconds: float) -> float:
    """Bytes a second, by threads that read with pread(2), as ours do."""
    text = output_of(
        [
            *("fio", "--name=reads", f"--filename={file}", f"--bs={block}"),
            f"--rw={'randread' if pattern == 'random' else 'read'}",
            *("--direct=1", "--ioengine=psync", "--thread", f"--numjobs={jobs}", "--time_based"),
            *(f"--runtime={round(1000 * seconds)}ms", f"--ramp_time={round(200 * seconds)}ms"),
            *("--group_reporting", "--norandommap", "--invalidate=0", "--output-format=json"),
        ]
    )
    return float(json.loads(text[text.index("{") :])["jobs"][0]["read"]["bw_bytes"])


def read_disk(file: Path, pattern: str, block: int, depth: int, seconds: float) -> float:
    """The same by our code, which `unstarve roofline` calls on a file of its own."""
    program = BUILD / "bench/roofline/read_disk"
    return float(output_of([program, file, pattern, str(block), str(depth), str(seconds)]))


def compare_disk(folder: Path, repeats: int, quiet: Quiet) -> Pairs:
    """Reads of one file past the page cache, some depths, in turns of half a second."""
    subprocess.run([ROOT / "scripts/build.sh", "release", "read_disk"], check=True)
    file = folder / "scratch"
    with file.open("wb") as scratch:
        for _ in range(1 << 8):
            scratch.write(os.urandom(1 << 22))
        os.fsync(scratch.fileno())
    kinds = [
        ("disk.sequential.depth_1", "sequential", 1 << 20, 1),
        *((f"disk.random_4k.depth_{n}", "random", 4 << 10, n) for n in (1, 8, 32)),
        *((f"disk.random_128k.depth_{n}", "random", 128 << 10, n) for n in (1, 8, 32)),
    ]

    def by(
        program: Callable[[Path, str, int, int, float], float],
        kind: tuple[str, str, int, int],
    ) -> Measured:
        name, pattern, block, depth = kind
        return {name: program(file, pattern, block, depth, 0.5)}

    pairs = Pairs(quiet)
    for repeat in range(3 * repeats):
        for kind in kinds:
            pairs.turn(repeat, partial(by, read_disk, kind), partial(by, fio, kind))
    file.unlink()
    return pairs


def compare_gemm(python: str, repeats: int, folder: Path, quiet: Quiet) -> tuple[Pairs, Pairs]:
    """Products by torch's libraries, as ours measures them, beside OpenBLAS and oneDNN's own C++.

    OpenBLAS as NumPy's wheels have it multiplies float32 alone; oneDNN both.
    """
    program = folder / "onednn_gemm"
    words = ["-O2", "-std=c++20", str(HERE / "onednn_gemm.cpp"), "-o", str(program), "-ldnnl"]
    has_onednn = subprocess.run(["g++", *words], check=False, capture_output=True).returncode == 0
    if not has_onednn:
        print("gemm.*: not compared with oneDNN: it is not installed (libdnnl-dev)")
    threads = str(len(os.sched_getaffinity(0)))

    def by_openblas() -> Measured:
        rates = [output_of([python, "-c", BLAS, str(size), "1"]) for size in GEMM_SIZES]
        return {"gemm.cpu.float32": max(map(float, rates))}

    def by_onednn() -> Measured:
        found: Measured = {}
        for dtype, name in (("f32", "float32"), ("bf16", "bfloat16")):
            rates = [
                output_of([program, dtype, str(size), "1"], OMP_NUM_THREADS=threads)
                for size in GEMM_SIZES
            ]
            found[f"gemm.cpu.{name}"] = max(map(float, rates))
        return found

    def by_us() -> Measured:
        roofs = ours(["--only", "gemm", "--python", python], 8)
        return {str(roof["name"]): float(str(roof["value"])) for roof in roofs}

    openblas, onednn = Pairs(quiet), Pairs(quiet)
    for repeat in range(repeats):
        openblas.turn(repeat, by_us, by_openblas)
        if has_onednn:
            onednn.turn(repeat, by_us, by_onednn)
    return openblas, onednn


def show(peer: str, pairs: Pairs) -> list[dict[str, object]]:
    """A line for each roof that has a peer."""
    rows: list[dict[str, object]] = []
    for name, theirs in pairs.theirs.items():
        mine = pairs.mine.get(name)
        if not mine or len(mine) != len(theirs):
            print(f"{name:32} not measured by us")
            continue
        ratios = sorted(one / other for one, other in zip(mine, theirs, strict=True))
        ratio = statistics.median(ratios)
        low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratio,) * 3
        verdict = "" if abs(ratio - 1) <= TARGET or AS_IT_IS in name else "  MISSED"
        print(
            f"{name:40} {statistics.median(mine):12.4g} {statistics.median(theirs):12.4g} "
            f"{ratio:6.3f} [{low:.3f}..{high:.3f}] of {len(ratios)}{verdict}  ({peer})"
        )
        rows.append({"roof": name, "peer": peer, "ours": mine, "theirs": theirs})
    others = statistics.median(pairs.others_cpus) if pairs.others_cpus else 0
    print(f"{peer}: others used {others:.2f} CPUs; {pairs.disturbed} pairs do not count for that")
    return rows


def main() -> None:
    """Compares what there are peers for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stream", type=Path, help="STREAM's stream.c")
    parser.add_argument("--disk", type=Path, default=Path(), help="a folder on the disk")
    parser.add_argument("--python", default=sys.executable, help="with torch and NumPy")
    parser.add_argument("--only", nargs="*", default=["memory", "disk", "gemm"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--others-cpus", type=float, default=0.15, help="what others may use while a pair counts"
    )
    parser.add_argument(
        "--minutes", type=float, default=20, help="until then disturbed pairs are run again"
    )
    parser.add_argument("--json", type=Path, help="where all values go")
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, {options.repeats} repeats")
    print(f"{'roof':40} {'ours':>12} {'theirs':>12} {'ours/theirs, quartiles':>6}")
    rows: list[dict[str, object]] = []
    quiet = Quiet(options.others_cpus, time.monotonic() + 60 * options.minutes)
    with tempfile.TemporaryDirectory(dir=options.disk) as made:
        folder = Path(made)
        if "memory" in options.only and options.stream:
            stream, past_caches = compare_memory(options.stream, options.repeats, folder, quiet)
            rows += show("STREAM", stream) + show("likwid-bench", past_caches)
        elif "memory" in options.only:
            print("memory.*: not compared: name STREAM's stream.c by --stream")
        if "disk" in options.only and shutil.which("fio"):
            rows += show("fio", compare_disk(folder, options.repeats, quiet))
        elif "disk" in options.only:
            print("disk.*: not compared: fio is not installed")
        if "gemm" in options.only:
            openblas, onednn = compare_gemm(options.python, options.repeats, folder, quiet)
            rows += show("OpenBLAS", openblas) + show("oneDNN", onednn)
    print(f"load {os.getloadavg()[0]:.1f} at the end")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
