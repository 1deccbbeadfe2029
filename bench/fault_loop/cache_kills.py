"""SIGKILL and full disks while a loader writes its cache: the same batches, and it goes on."""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fault_loop.kills import kill_after
from fault_loop.made_data import (
    batch_hash,
    check,
    make_folder,
    open_loader,
    small_disk,
    start_child,
)
from fault_loop.watch import Watch, still_moving

PICTURES = 320
PICTURE_SIZE = 240
WRITTEN_S = 5.0  # in which what waits to be written has been, or why not has been said
SETTLED_S = 0.1  # after which a file is old enough for a copy of it
TRAINING: dict[str, Any] = {"train": True, "shuffle": True, "seed": 5, "on_error": "raise"}
HEADER_BYTES = ENTRY_BYTES = 64
STATE = 46  # where it lies in an entry


def cache_for_ever(source: Path, cache: Path, rank: int, ranks: int) -> None:
    print("ready", flush=True)
    loader = open_loader(source, cache_dir=cache, rank=rank, world_size=ranks, **TRAINING)
    while True:
        for _ in loader:
            pass


def hashes(loader: Any) -> list[str]:
    return [batch_hash(*batch) for batch in loader]


def entries_in(cache: Path) -> int:
    """Samples of which the cache knows something."""
    slots = next(cache.rglob("slots"), None)
    data = slots.read_bytes()[HEADER_BYTES:] if slots else b""
    return sum(data[at + STATE] != 0 for at in range(0, len(data) - STATE, ENTRY_BYTES))


class Cached:
    """A folder, what an uncached loader makes of it, and a cache to be disturbed."""

    def __init__(self, scratch: Path) -> None:
        self.source = make_folder(scratch / "pictures", PICTURES, size=PICTURE_SIZE)
        time.sleep(SETTLED_S)
        self.wanted = hashes(open_loader(self.source, **TRAINING))
        self.cache = scratch / "cache"
        self.fill(self.cache)
        self.keepable = self.hits(self.cache)
        check(self.keepable > PICTURES // 2, f"only {self.keepable} copies are kept")
        self.half = scratch / "half"
        bytes_in_all = sum(path.stat().st_size for path in self.cache.rglob("*.ush"))
        self.fill(self.half, cache_bytes=bytes_in_all // 2)
        check(0 < self.hits(self.half) < self.keepable, "half a cache is none or a whole one")

    def fill(self, cache: Path, **options: Any) -> list[str]:
        """An epoch of a loader that writes, whose batches are right. Returns what it says."""
        loader = open_loader(self.source, cache_dir=cache, **TRAINING, **options)
        check(hashes(loader) == self.wanted, f"{cache}: other batches with a cache")
        until = time.monotonic() + WRITTEN_S
        while True:  # the writing goes on by itself
            said: list[str] = loader.explain()
            if stopped(said) or entries_in(cache) == PICTURES or time.monotonic() > until:
                return said
            time.sleep(0.005)

    def hits(self, cache: Path) -> int:
        """An epoch of a loader that only reads. Returns how many samples were copies."""
        loader = open_loader(self.source, cache_dir=cache, cache_bytes=1, **TRAINING)
        check(hashes(loader) == self.wanted, f"{cache}: other batches from a cache")
        stats = loader.stats()
        check(stats["cache_damaged"] == 0, f"{cache}: {stats['cache_damaged']} damaged copies")
        return int(stats["cache_hits"])

    def check_that_it_is_filled_on(self, cache: Path) -> None:
        self.fill(cache)
        hits = self.hits(cache)
        check(hits == self.keepable, f"{cache}: {hits} copies in the end, not {self.keepable}")


def start_job(cached: Cached, rank: int = 0, ranks: int = 1) -> subprocess.Popen[str]:
    child = start_child("cache", cached.source, cached.cache, str(rank), str(ranks))
    assert child.stdout is not None
    check(child.stdout.readline() == "ready\n", "the job with a cache does not start")
    return child


def seconds_to_fill(cached: Cached) -> float:
    shutil.rmtree(cached.cache)
    child = start_job(cached)
    begun = time.monotonic()
    while entries_in(cached.cache) < PICTURES:
        time.sleep(0.002)
    seconds = time.monotonic() - begun
    child.kill()
    child.wait()
    return seconds


def wait_for_entries(cache: Path, count: int, at_most_s: float) -> None:
    until = time.monotonic() + at_most_s
    while entries_in(cache) < count and time.monotonic() < until:
        time.sleep(0.0002)


def kill_caching(scratch: Path, kills: int, draw: random.Random) -> str:
    cached = Cached(scratch)
    seconds = seconds_to_fill(cached)
    done = partly = together = 0
    # Each loader has threads of its own, which allocators give pools to: some dozens settle it.
    watch = Watch(kills, warm_up=max(1, kills // 2))
    while done < kills:
        starts = ["fresh", "half"]
        if entries_in(cached.cache) < PICTURES:
            starts.append("left")  # by the last ones
        start = draw.choice(starts)
        if start != "left":
            shutil.rmtree(cached.cache, ignore_errors=True)  # a kill may have come before it
            if start == "half":
                shutil.copytree(cached.half, cached.cache)
        before = entries_in(cached.cache)
        ranks = draw.choice((1, 2))
        children = [start_job(cached, rank, ranks) for rank in range(ranks)]
        for child in children:  # the others go on while what the first left is read
            if draw.random() < 0.5:
                wait_for_entries(cached.cache, draw.randrange(before, PICTURES + 1), seconds)
                wait_s = 0.0
            else:
                wait_s = draw.uniform(0, 1.2 * seconds)
            check(kill_after(child, wait_s), "a job ended by itself")
            partly += before < entries_in(cached.cache) < PICTURES
            if child is not children[-1] and cached.cache.exists():
                cached.hits(cached.cache)
            done += 1
        for child in children:
            assert child.stdout is not None
            child.stdout.close()
        watch.seen(done)
        together += ranks == 2
        cached.hits(cached.cache)
        if draw.random() < 0.5:
            cached.check_that_it_is_filled_on(cached.cache)
    cached.check_that_it_is_filled_on(cached.cache)
    return (
        f"{done} kills of loaders that fill a cache, {together} times two ranks with one cache, "
        f"{partly} kills in the middle of filling: the same batches, and it is filled on; "
        + watch.text()
    )


@contextmanager
def ballast(folder: Path, draw: random.Random) -> Iterator[None]:
    """Takes all that is free, lets it go, and so on."""
    stop = threading.Event()

    def come_and_go() -> None:
        path = folder / "ballast"
        while not stop.is_set():
            try:
                with path.open("wb", buffering=0) as file:
                    for size in (1 << 16, 1 << 12):
                        while file.write(bytes(size)) == size:
                            pass
            except OSError:
                pass  # it is full
            stop.wait(draw.uniform(0, 0.01))
            path.unlink(missing_ok=True)
            stop.wait(draw.uniform(0, 0.01))

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def largest_file(size_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def stopped(said: list[str]) -> bool:
    return any("no more copies" in line or "cache: none" in line for line in said)


def full_cache_disk(scratch: Path, rounds: int, draw: random.Random) -> str:
    """A disk that is full from the start, at a random byte, or now and then."""
    cached = Cached(scratch)
    size = sum(path.stat().st_size for path in cached.cache.rglob("*.ush"))
    stops = 0
    for _ in range(rounds):
        still_moving()
        shutil.rmtree(cached.cache)
        with largest_file(draw.randrange(8 << 10, size)):
            said = cached.fill(cached.cache)
            again = cached.fill(cached.cache)
        check(stopped(said) or stopped(again), f"a write that failed is not told: {said}")
        cached.check_that_it_is_filled_on(cached.cache)
    ways = f"{rounds} limits on file sizes"
    disk = scratch / "disk"
    for _ in range(rounds):
        with small_disk(disk, draw.randrange(64 << 10, size)) as mounted:
            if not mounted:
                return f"{ways} (nothing may be mounted here): the same batches, and why"
            cached.fill(disk)
            loader = open_loader(cached.source, cache_dir=disk, **TRAINING)
            check(hashes(loader) == cached.wanted, "other batches on a full disk")
            del loader
            check(cached.hits(disk) < cached.keepable, "a disk that is too small took all")
    for _ in range(rounds):
        with small_disk(disk, 2 * size) as mounted:
            with ballast(disk, draw):
                said = cached.fill(disk)
                stops += stopped(said) or stopped(cached.fill(disk))
            cached.check_that_it_is_filled_on(disk)
    no_inodes(cached, disk)
    return (
        f"{ways}, {rounds} disks that are too small, {rounds} that fill up and empty again "
        f"({stops} stopped), one without inodes: the same batches, and why"
    )


def no_inodes(cached: Cached, disk: Path) -> None:
    options = "size=1m,nr_inodes=1"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], check=True)
    try:
        said = cached.fill(disk)
        check(any("cache: none" in line for line in said), f"it is not said why: {said}")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
