#!/usr/bin/env python3
"""Has `unstarve diagnose` and `unstarve report` read recordings that were changed at random.

Fails where a command crashes, takes more than 10 s of CPU time or 1 GiB of memory, hangs, or lets
a control character through to the terminal. A failure's files stay in build/mutations, with the
command; `--first NUMBER --count 1 --seed SEED` makes it again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import mutations

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "mutations"
RUNS = ROOT / "tests/data/runs"
TRACES = ROOT / "tests/data/traces"
CORPORA = ROOT / "fuzz"
#: Of a trace that is longer, so many of its events are read.
MOST_EVENTS = 400
MOST_TRACE_BYTES = 400_000

CPU_SECONDS = 10
SHOWN_EVERY = 500  # mutations
#: Of the clock: on a machine that is busy a command waits for its turn.
WALL_SECONDS = 120
MEMORY_KIB = 1 << 20
OUTPUT_KIB = 1 << 17  # of a file that is written, and of what is printed
#: 0 to 2 are the command's own; `timeout` and shells use those above 123.
OWN_CODES = (0, 1, 2)
#: C0 without tabs and newlines, DEL, and C1 as UTF-8.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
OWN_FAULT = b"a fault of unstarve's own"


@dataclass(frozen=True)
class Recording:
    """`lay_down` puts its files into a folder, and gives what the commands are to read of it;
    `change` changes one of them."""

    name: str
    lay_down: Callable[[Path], Path]
    change: Callable[[Path, Random], None]


def _changed(path: Path, change: Callable[[bytes, Random], bytes], draw: Random) -> None:
    path.write_bytes(change(path.read_bytes(), draw))


def change_run(folder: Path, draw: Random) -> None:
    """One file of a run, or of a folder of runs, a store most often."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stores = [path for path in files if path.name == "run.sqlite"]
    path = draw.choice(stores if draw.random() < 0.5 else files)
    if path.suffix == ".sqlite":
        mutations.change_store(path, draw)
    elif path.suffix == ".uev":
        _changed(path, mutations.change_events, draw)
    elif path.suffix == ".ring":
        _changed(path, mutations.change_ring, draw)
    else:
        change_trace(path, draw)


def change_trace(path: Path, draw: Random) -> None:
    if path.suffix == ".sqlite":
        mutations.change_store(path, draw)
    elif path.suffix == ".gz":
        _changed(path, mutations.change_packed, draw)
    elif path.suffix in (".csv", ".txt"):
        _changed(path, mutations.change_lines, draw)
    else:
        _changed(path, mutations.change_json, draw)


def _copy(source: Path, target: Path) -> Path:
    return shutil.copytree(source, target, ignore=shutil.ignore_patterns("told.json"))


def _run(source: Path) -> Recording:
    def lay_down(folder: Path) -> Path:
        return _copy(source, folder / "run")

    return Recording(source.name, lay_down, change_run)


def _unended_run(ring: Path) -> Recording:
    """A run whose watcher was killed, so that its rings are read."""

    def lay_down(folder: Path) -> Path:
        run = folder / "run"
        (run / "rings").mkdir(parents=True)
        shutil.copy(RUNS / "fed_gpu/run.sqlite", run)
        with closing(sqlite3.connect(run / "run.sqlite")) as store, store:
            store.execute("update run set value = 'running' where key = 'state'")
        shutil.copy(ring, run / "rings/hook-1-1.ring")
        return run

    return Recording(f"ring {ring.name}", lay_down, change_run)


def _trials() -> Recording:
    """A folder that `run --fix` made."""
    trial = {"remedy": "more_workers", "how": "Use 2 workers.", "base": "before"}
    trial |= {"opening": "before", "again": "more_workers.without", "permanent": "2"}
    trial |= {"diff": "- a", "run": "", "outcome": "kept"}
    found = {"measured": {"speedup": 2.1, "low": 1.9, "high": 2.3}}

    def lay_down(folder: Path) -> Path:
        for label, name in (("before", "starved"), ("more_workers", "fed")):
            _copy(RUNS / name, folder / "run" / label)
        _copy(RUNS / "starved", folder / "run/more_workers.without")
        (folder / "run/trials.json").write_text(json.dumps([trial | found]), encoding="utf-8")
        return folder / "run"

    return Recording("trials", lay_down, change_run)


def _stages() -> Recording:
    """Runs of one id."""

    def lay_down(folder: Path) -> Path:
        for stage, name in (("train", "fed_gpu"), ("infer", "infers")):
            _copy(RUNS / name, folder / "run" / stage)
            with closing(sqlite3.connect(folder / "run" / stage / "run.sqlite")) as store, store:
                store.execute("insert or replace into run values ('stage', ?)", (stage,))
        return folder / "run"

    return Recording("stages", lay_down, change_run)


def _trace(name: str, data: bytes) -> Recording:
    def lay_down(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return Recording(name, lay_down, change_trace)


def _shortened(packed: bytes) -> bytes:
    """The middle of a long trace, and what it says of itself."""
    text = gzip.decompress(packed)
    if len(text) <= MOST_TRACE_BYTES:
        return packed
    trace = json.loads(text)
    events = trace["traceEvents"]
    middle = len(events) // 2
    named = [event for event in events if event.get("ph") == "M"][:MOST_EVENTS]
    trace["traceEvents"] = [*named, *events[middle : middle + MOST_EVENTS]]
    return gzip.compress(json.dumps(trace).encode())


def recordings() -> list[Recording]:
    """Runs twice, since they have most to say; each other form by its corpus."""
    runs = [_run(path) for path in sorted(RUNS.iterdir()) if (path / "run.sqlite").is_file()]
    rings = sorted([*CORPORA.glob("run_rings/corpus/*"), *CORPORA.glob("mapped_ring/corpus/*")])
    found = [*runs, *runs, *[_trials(), _stages()] * 8, *(_unended_run(ring) for ring in rings)]
    for path in sorted(TRACES.glob("*.json.gz")):
        found.append(_trace(path.name, _shortened(path.read_bytes())))
    for corpus in ("kineto_trace", "nsys_export", "gpu_log"):
        for path in sorted(CORPORA.glob(f"{corpus}/corpus/*")):
            found.append(_trace(path.name, path.read_bytes()))
    return found


def commands_for(recording: Path, draw: Random) -> list[list[str]]:
    """One way to read it by each of the two commands."""
    file = str(recording)
    diagnose = draw.choice(([], ["--verbose"], ["--json"], ["--html", "page.html"]))
    report: list[list[str]] = [[], ["--verbose"], ["--json", "-"], ["--html", "-"]]
    if recording.is_dir():
        report += [["--roofline"], ["--predictions"]]
    return [["diagnose", file, *diagnose], ["report", file, *draw.choice(report)]]


@dataclass(frozen=True)
class Limits:
    cpu_seconds: int = CPU_SECONDS
    wall_seconds: float = WALL_SECONDS
    memory_kib: int = MEMORY_KIB


def run_limited(command: list[str], folder: Path, limits: Limits) -> tuple[int | None, bytes]:
    """How a command ended (None: it did not), and all that it said on a terminal."""
    bounds = f"ulimit -c 0 -t {limits.cpu_seconds} -v {limits.memory_kib} -f {OUTPUT_KIB}"
    bounded = ["bash", "-c", f'{bounds} && exec "$@"', "bash", *command]
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "UNSTARVE_CACHE_DIR": str(folder / "cache"),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
    }
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            bounded,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            ended: int | None = child.wait(limits.wall_seconds)
        except subprocess.TimeoutExpired:
            ended = None
        finally:
            child.kill()
            child.wait()
        said.seek(0)
        return ended, said.read()


def fault_of(ended: int | None, said: bytes, limits: Limits) -> str | None:
    """In words, what may not be; None: the recording was read, or refused."""
    if ended is None:
        return f"it did not end within {limits.wall_seconds:g} s"
    if ended in (-24, -9):
        return f"it took more than {limits.cpu_seconds} s of CPU time"
    if ended < 0:
        return f"signal {-ended} ended it"
    if OWN_FAULT in said:
        line = said[said.index(OWN_FAULT) :].split(b"\n")[0]
        return line.decode(errors="replace")
    if ended not in OWN_CODES:
        return f"it ended with {ended}"
    if control := CONTROL.search(said):
        around = said[max(0, control.start() - 40) : control.end() + 20]
        return f"a control character reaches the terminal: {around!r}"
    return None


@dataclass(frozen=True)
class Outcome:
    number: int
    recording: str
    was_read: bool
    faults: tuple[str, ...]


class Trier:
    """Makes the mutation of a number, and has it read. Thread-safe."""

    def __init__(self, program: list[str], seed: int, limits: Limits) -> None:
        self.program = program
        self.seed = seed
        self.limits = limits
        self.recordings = recordings()

    def attempt(self, number: int) -> Outcome:
        draw = Random(f"{self.seed}:{number}")
        recording = draw.choice(self.recordings)
        with tempfile.TemporaryDirectory(prefix="unstarve-mutation-") as folder:
            there = Path(folder)
            file = recording.lay_down(there)
            recording.change(file, draw)
            commands = commands_for(file, draw)
            kept = there / "as-given"
            shutil.copytree(there, kept)
            faults = []
            was_read = False
            for command in commands:
                ended, said = run_limited([*self.program, *command], there, self.limits)
                was_read |= ended == 0
                if fault := fault_of(ended, said, self.limits):
                    words = shlex.join(["unstarve", *command]).replace(f"{folder}/", "")
                    faults.append(f"{words}: {fault}")
            if faults:
                self._keep(kept, number, faults)
            return Outcome(number, recording.name, was_read, tuple(faults))

    def _keep(self, files: Path, number: int, faults: list[str]) -> None:
        target = KEPT / f"{self.seed}-{number}"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(files, target)
        (target / "faults.txt").write_text("\n".join(faults) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    built = ROOT / "build/release/src/cli/unstarve"
    parser.add_argument("--unstarve", default=str(built), help="the command, words and all")
    parser.add_argument("--count", type=int, default=10_000, help="how many mutations")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    day = int(time.time()) // 86_400
    parser.add_argument("--seed", type=int, default=day, help="of all draws; else the day's number")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    trier = Trier(shlex.split(options.unstarve), options.seed, Limits())
    print(f"seed {options.seed}: {options.count} mutations from number {options.first}", flush=True)
    failed: Counter[str] = Counter()
    were_read = 0
    with ThreadPoolExecutor(options.jobs) as threads:
        numbers = range(options.first, options.first + options.count)
        for outcome in threads.map(trier.attempt, numbers):
            were_read += outcome.was_read
            for fault in outcome.faults:
                failed[outcome.recording] += 1
                print(f"{outcome.number} ({outcome.recording}): {fault}", flush=True)
            done = outcome.number - options.first + 1
            if done % SHOWN_EVERY == 0:
                print(f"{done} of {options.count}: {failed.total()} faults", flush=True)
    print(f"{were_read} of {options.count} were read, the others refused; {failed.total()} faults")
    if failed:
        print(f"their files are in {KEPT.relative_to(ROOT)}")
    if were_read * 4 < options.count:
        print("fewer than a quarter were read: the mutations break too much to test anything")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
