"""Does a job that goes on for long grow more with our loader than with torch's?

    PYTHONPATH=build/release/python python bench/soak/soak.py [--minutes 30] [--only forks]

Each shape of `shapes.py` runs with torch's loader, then with unstarve's, for equal shares of the
time. Meanwhile it is looked at: what the job and all that it started have in memory of their own
and in shared memory, the main process's open files and threads, and the entries of /dev/shm. Both
are printed over time. Ends with exit code 1 where ours grows beyond torch's over the last two
thirds of its time: the median of the last third is compared with that of the one before.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

LOADERS = ("torch", "unstarve")
SHAPES = (
    "persistent",
    "kept_labels",
    "many_loaders",
    "killed_workers",
    "early_breaks",
    "forks",
)
MEBIBYTE = 1 << 20
LOOKS = 90  # at each job
ROWS = 9  # that are printed of them
FAREWELL_S = 60.0  # for a job to end when its time is over


@dataclass(frozen=True)
class Usage:
    """What a job takes at one moment."""

    memory_mib: float  # its processes' own
    shared_mib: float
    files: int
    threads: int
    shm_entries: int


#: What ours may grow by more than torch's: allocators keep some, and looks differ by a batch.
ALLOWED = Usage(memory_mib=16.0, shared_mib=8.0, files=2, threads=2, shm_entries=1)


def entries_of(folder: str) -> list[Path]:
    """Of a folder that may be gone: none."""
    try:
        return list(Path(folder).iterdir())
    except OSError:
        return []


def family(process: int) -> Iterator[int]:
    """The process and all that it started; those that end meanwhile are left out."""
    yield process
    for thread in entries_of(f"/proc/{process}/task"):
        try:
            children = (thread / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield from family(int(child))


def memory_of(process: int) -> tuple[int, int]:
    """Bytes of its own, and its share of what it has mapped of shared memory."""
    found = {"Pss_Anon": 0, "Pss_File": 0, "Pss_Shmem": 0}
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in found:
                found[name] = int(rest.split()[0]) * 1024
    except OSError:
        pass
    return found["Pss_Anon"] + found["Pss_File"], found["Pss_Shmem"]


def shared_files_of(process: int) -> dict[tuple[int, int], int]:
    """Bytes of each file of shared memory that it has open, mapped or not."""
    found = {}
    for entry in entries_of(f"/proc/{process}/fd"):
        try:
            if str(entry.readlink()).startswith(("/memfd:", "/dev/shm/")):
                state = entry.stat()
                found[state.st_dev, state.st_ino] = state.st_blocks * 512
        except OSError:
            continue
    return found


def look_at(process: int) -> Usage:
    own = mapped = 0
    shared: dict[tuple[int, int], int] = {}
    for member in family(process):
        own_bytes, mapped_bytes = memory_of(member)
        own += own_bytes
        mapped += mapped_bytes
        shared |= shared_files_of(member)
    # What is mapped need not be open, and what is open need not be mapped.
    shared_bytes = max(mapped, sum(shared.values()))
    return Usage(
        own / MEBIBYTE,
        shared_bytes / MEBIBYTE,
        len(entries_of(f"/proc/{process}/fd")),
        len(entries_of(f"/proc/{process}/task")),
        len(entries_of("/dev/shm")),
    )


def make_images(folder: Path) -> Path:
    """Small photographs of noise, in two classes."""
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(1)
    for number in range(64):
        path = folder / f"class{number % 2}" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 256, (24, 32, 3), dtype=numpy.uint8)
        Image.fromarray(pixels).resize((320, 240)).save(path)
    return folder


def end(job: subprocess.Popen[str]) -> None:
    """With its workers, which others would have to clean up behind."""
    for member in reversed(list(family(job.pid))):
        with contextlib.suppress(OSError):
            os.kill(member, signal.SIGKILL)
    job.wait()


def run(shape: str, loader: str, images: Path, seconds: float) -> list[Usage]:
    """Looks at one job until it ends."""
    script = str(Path(__file__).with_name("shapes.py"))
    command = [sys.executable, script, shape, loader, str(images), str(seconds)]
    looks: list[Usage] = []
    # Whose workers are killed says much of it.
    with tempfile.TemporaryFile("w+") as words:
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=words, text=True)
        begun = time.monotonic()
        while job.poll() is None:
            if time.monotonic() - begun > seconds + FAREWELL_S:
                end(job)
                if loader != "torch":
                    raise SystemExit(f"{shape} with {loader} does not end")
                # torch's waits for workers that were killed: what was seen until then counts.
                print(f"{shape} with torch does not end: it was killed", flush=True)
                return looks
            time.sleep(seconds / LOOKS)
            if time.monotonic() - begun < seconds:
                looks.append(look_at(job.pid))
        assert job.stdout is not None
        taken = job.stdout.read().strip()
        if job.returncode != 0:
            words.seek(0)
            told = f"{words.read()}{shape} with {loader} ended with {job.returncode}"
            if loader != "torch":
                raise SystemExit(told)
            # Its error about a killed worker comes anywhere: what was seen until then counts.
            print(told, flush=True)
            return looks
    print(f"{shape} with {loader}: {taken} batches in {seconds:.0f} s", flush=True)
    return looks


def growth(looks: Sequence[Usage]) -> Usage:
    """Of each figure: the median of the last third without that of the third before."""
    third = len(looks) // 3
    before, last = looks[third : 2 * third], looks[2 * third :]

    def median(part: Sequence[Usage], name: str) -> float:
        return float(statistics.median(getattr(usage, name) for usage in part))

    grown = [median(last, field.name) - median(before, field.name) for field in fields(Usage)]
    return Usage(*grown)  # type: ignore[arg-type]  # medians of whole numbers may be halves


def faults(shape: str, theirs: Sequence[Usage], ours: Sequence[Usage]) -> list[str]:
    """In which figures ours has grown beyond torch's."""
    found = []
    for field in fields(Usage):
        by = getattr(growth(ours), field.name)
        reference = getattr(growth(theirs), field.name)
        if by > max(reference, 0) + getattr(ALLOWED, field.name):
            found.append(f"{shape}: {field.name} has grown by {by:.1f}, torch's by {reference:.1f}")
    return found


def show(theirs: Sequence[Usage], ours: Sequence[Usage], seconds: float) -> None:
    """Both over time, side by side."""
    names = [field.name for field in fields(Usage)]
    print("    at (s)  " + "   ".join(f"{name:>12} torch   ours" for name in names))
    count = min(len(theirs), len(ours))
    for row in range(ROWS):
        at = (row * (count - 1)) // (ROWS - 1)
        pairs = zip(astuple(theirs[at]), astuple(ours[at]), strict=True)
        shown = "   ".join(f"{reference:18.0f} {own:6.0f}" for reference, own in pairs)
        print(f"    {seconds * (at + 1) / count:6.0f}  {shown}")
    print(flush=True)


def main() -> int:
    """Runs all shapes with both loaders; says which have grown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=30.0, help="in all")
    parser.add_argument("--only", choices=SHAPES, action="append")
    options = parser.parse_args()
    shapes = options.only or SHAPES
    seconds = 60 * options.minutes / (len(shapes) * len(LOADERS))
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        images = make_images(Path(temporary))
        for shape in shapes:
            theirs, ours = (run(shape, loader, images, seconds) for loader in LOADERS)
            if min(len(theirs), len(ours)) < ROWS:
                raise SystemExit(f"{shape}: too short to be looked at often enough; more --minutes")
            show(theirs, ours, seconds)
            found += faults(shape, theirs, ours)
    for fault in found:
        print(fault)
    if not found:
        print("nothing grows beyond torch's")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
