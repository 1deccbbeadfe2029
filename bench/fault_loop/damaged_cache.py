"""Mutated files of a cache. Whatever lies there, batches are those of the originals."""

from __future__ import annotations

import io
import random
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fault_loop.cache_kills import ENTRY_BYTES, HEADER_BYTES, SETTLED_S
from fault_loop.damaged_shards import put_payload_over_another, put_record_over_another
from fault_loop.made_data import Epoch, check, made_jpeg, open_loader, run_epoch
from fault_loop.mutations import anything, swap_entries
from fault_loop.watch import Watch

SAMPLES = 12
Change = Callable[[bytes, random.Random], bytes]


def swap_slots(slots: bytes, draw: random.Random) -> bytes:
    return swap_entries(slots, HEADER_BYTES, (SAMPLES, ENTRY_BYTES), draw)


def mutate_an_entry(slots: bytes, draw: random.Random) -> bytes:
    data = bytearray(slots)
    for _ in range(draw.choice((1, 1, 3))):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


def nothing(_file: bytes, _draw: random.Random) -> bytes:
    return b""


SLOT_CHANGES: tuple[Change, ...] = (anything, anything, mutate_an_entry, swap_slots, nothing)
COPY_CHANGES: tuple[Change, ...] = (
    anything, anything, put_record_over_another, put_payload_over_another, nothing,
)  # fmt: skip


def alike_pictures(first_seed: int) -> list[bytes]:
    """Of one length: made in one moment, their stamps do not tell them apart."""
    pictures = [made_jpeg(8 * (first_seed + i) + i % 3) for i in range(SAMPLES)]
    longest = max(map(len, pictures))
    return [picture.ljust(longest, b"\0") for picture in pictures]


def alike_folder(root: Path, first_seed: int) -> Path:
    (root / "one").mkdir(parents=True, exist_ok=True)
    for i, picture in enumerate(alike_pictures(first_seed)):
        (root / "one" / f"{i:05}.jpg").write_bytes(picture)
    return root


def alike_tar(path: Path, first_seed: int) -> Path:
    path = path.with_suffix(".tar")
    with tarfile.open(path, "w") as tar:
        for i, picture in enumerate(alike_pictures(first_seed)):
            member = tarfile.TarInfo(f"{i:05}.jpg")
            member.size = len(picture)
            tar.addfile(member, io.BytesIO(picture))
    return path


class CacheLoop:
    """One cache, damaged again and again."""

    def __init__(self, scratch: Path, make_data: Callable[[Path, int], Path]) -> None:
        scratch.mkdir()
        self.made = make_data(scratch / "made", 0)
        other = make_data(scratch / "other", 100)
        self.cache, self.sound = scratch / "cache", scratch / "sound"
        time.sleep(SETTLED_S)
        self.options: list[dict[str, Any]] = [{}, {"train": True, "seed": 3}]
        self.wanted = [run_epoch(open_loader(self.made, **options)) for options in self.options]
        self.make(self.made, self.cache)
        self.folder = next(self.cache.iterdir())
        shutil.copytree(self.folder, self.sound)
        self.make(other, scratch / "of-others")
        self.other = next((scratch / "of-others").iterdir())
        self.files = sorted(path.name for path in self.sound.iterdir())
        check(len(self.files) == 3, f"two ranks made {self.files}")
        self.hits = self.damaged = self.refused = 0

    def make(self, source: Path, cache: Path) -> None:
        """Two ranks at once: so that there are two files of copies."""
        ranks = [open_loader(source, cache_dir=cache, rank=rank, world_size=2) for rank in (0, 1)]
        for rank in ranks:
            for _ in rank:
                pass
            check(not rank.errors(), f"a rank fails: {rank.errors()}")
            while not rank.stats()["cache_kept"]:  # the writing goes on by itself
                time.sleep(0.001)

    def compare(self, case: int, what: str) -> int | None:
        """Returns how many samples were copies; None where the cache was refused."""
        options, wanted = self.options[case % 2], self.wanted[case % 2]
        try:
            loader = open_loader(self.made, cache_dir=self.cache, **options)
        except Exception as error:
            self.refused += 1
            check(str(self.folder) in str(error), f"{what}: the error names no file: {error}")
            return None
        self.compare_samples(run_epoch(loader), wanted, what)
        stats = loader.stats()
        self.damaged += stats["cache_damaged"]
        return int(stats["cache_hits"])

    def compare_samples(self, epoch: Epoch, wanted: Epoch, what: str) -> None:
        check(not epoch.failures, f"{what}: samples fail: {epoch.failures}")
        same = all(map(np.array_equal, epoch.images, wanted.images))
        check(same and epoch.labels == wanted.labels, f"{what}: a batch is silently different")

    def change(self, name: str, draw: random.Random) -> tuple[bytes | None, str]:
        sound = (self.sound / name).read_bytes()
        way = draw.random()
        if way < 0.02:
            return None, "removed"
        if way < 0.04:  # a file of another data set's cache
            return (self.other / name).read_bytes(), "another set's"
        if way < 0.06:  # the other file of copies, or the slots
            other = draw.choice([other for other in self.files if other != name])
            return (self.sound / other).read_bytes(), other
        change = draw.choice(SLOT_CHANGES if name == "slots" else COPY_CHANGES)
        return change(sound, draw), change.__name__

    def damage(self, case: int, draw: random.Random) -> None:
        name = draw.choice(self.files)
        changed, how = self.change(name, draw)
        if changed is None:
            (self.folder / name).unlink()
        else:
            (self.folder / name).write_bytes(changed)
        what = f"{name}, case {case} ({how})"
        hits = self.compare(case, what)
        self.hits += hits or 0
        if hits is not None:  # what was damaged has been made anew
            again = self.compare(case + 1, what + ", again")
            check(again == SAMPLES, f"{what}: {again} copies afterwards, not {SAMPLES}")
        shutil.rmtree(self.folder)
        shutil.copytree(self.sound, self.folder)


def damage_cache(scratch: Path, count: int, draw: random.Random) -> str:
    loops = [CacheLoop(scratch / "folder", alike_folder), CacheLoop(scratch / "tar", alike_tar)]
    for loop in loops:
        check(loop.compare(0, "the sound cache") == SAMPLES, "the sound cache cannot be read")
    watch = Watch(count)
    for case in range(count):
        loops[case // 2 % 2].damage(case, draw)
        watch.seen(case + 1)
    refused = sum(loop.refused for loop in loops)
    damaged = sum(loop.damaged for loop in loops)
    hits = sum(loop.hits for loop in loops)
    return (
        f"{count} mutated files of caches of a folder and a tar: {refused} refused by name, "
        f"{damaged} copies found damaged and made anew, {hits} copies read, every sample right; "
        + watch.text()
    )
