"""Mutated shards. Every byte that matters is under a checksum: a sample has the right pixels or an
error, and none is missing without a word."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fault_loop.made_data import Epoch, check, load, make_folder, open_loader, pack, run_epoch
from fault_loop.mutations import anything, swap_entries
from fault_loop.watch import Watch

SAMPLES = 12
RECORD_BYTES = 88  # of a record's header
ENTRY_BYTES = 64
TABLE_HEADER_BYTES = 192
TRAILER_BYTES = 64


@dataclass
class Record:
    begin: int
    payload: int
    end: int


def align_up(offset: int) -> int:
    return (offset + 63) // 64 * 64


def records_of(shard: bytes) -> list[Record]:
    """Where the records of a sound shard lie."""
    found = []
    begin = 64
    while shard[begin : begin + 4] == b"USMP":
        name = int.from_bytes(shard[begin + 6 : begin + 8], "little")
        meta = int.from_bytes(shard[begin + 8 : begin + 12], "little")
        size = int.from_bytes(shard[begin + 24 : begin + 32], "little")
        payload = align_up(begin + RECORD_BYTES + name + meta)
        found.append(Record(begin, payload, align_up(payload + size)))
        begin = found[-1].end
    return found


def table_of(file: bytes) -> int:
    """Where the table of a shard or an index begins."""
    return int.from_bytes(file[-TRAILER_BYTES + 16 : -TRAILER_BYTES + 24], "little")


def put_record_over_another(shard: bytes, draw: random.Random) -> bytes:
    """A misdirected write: sound in itself, in the wrong place."""
    one, other = draw.sample(records_of(shard), 2)
    size = min(one.end - one.begin, other.end - other.begin)
    data = bytearray(shard)
    data[one.begin : one.begin + size] = shard[other.begin : other.begin + size]
    return bytes(data)


def put_payload_over_another(shard: bytes, draw: random.Random) -> bytes:
    one, other = draw.sample(records_of(shard), 2)
    size = min(one.end - one.payload, other.end - other.payload)
    data = bytearray(shard)
    data[one.payload : one.payload + size] = shard[other.payload : other.payload + size]
    return bytes(data)


def mutate_a_place(file: bytes, draw: random.Random) -> bytes:
    """A few bits in one of the small structures, which few random changes would hit."""
    table = table_of(file)
    places = [(0, 64), (table, TABLE_HEADER_BYTES), (len(file) - TRAILER_BYTES, TRAILER_BYTES),
              (table + TABLE_HEADER_BYTES, SAMPLES * ENTRY_BYTES),
              (table, len(file) - TRAILER_BYTES - table)]  # fmt: skip
    for record in records_of(file):
        places.append((record.begin, record.payload - record.begin))
        places.append((record.payload, 256))
    begin, size = draw.choice(places)
    data = bytearray(file)
    for _ in range(draw.choice((1, 1, 3))):
        data[min(begin + draw.randrange(size), len(data) - 1)] ^= 1 << draw.randrange(8)
    return bytes(data)


def swap_samples(file: bytes, draw: random.Random) -> bytes:
    table = table_of(file)
    samples = int.from_bytes(file[table + 24 : table + 32], "little")
    return swap_entries(file, table + TABLE_HEADER_BYTES, (samples, ENTRY_BYTES), draw)


Change = Callable[[bytes, random.Random], bytes]
SHARD_CHANGES: tuple[Change, ...] = (
    anything, anything, mutate_a_place, put_record_over_another, put_payload_over_another,
)  # fmt: skip
INDEX_CHANGES: tuple[Change, ...] = (anything, mutate_a_place, swap_samples)


class ShardLoop:
    """One set, damaged again and again."""

    def __init__(self, scratch: Path, program: Path) -> None:
        made = make_folder(scratch / "made", SAMPLES)
        self.sound = pack(program, made, scratch / "sound")
        other = make_folder(scratch / "other", SAMPLES, seed=100)
        self.other = pack(program, other, scratch / "of-others")
        self.set = scratch / "set"
        shutil.copytree(self.sound, self.set)
        self.options: list[dict[str, Any]] = [{}, {"train": True, "seed": 3}]
        self.wanted = [run_epoch(open_loader(made, **options)) for options in self.options]
        self.files = sorted(path.name for path in self.sound.iterdir())
        self.shards = [name for name in self.files if name.endswith(".ush")]
        self.refused = self.failed = self.right = 0

    def compare(self, source: Path, first: int, count: int, case: int, what: str) -> None:
        """`source` holds samples `first` to `first + count` of the set, or is refused."""
        options = self.options[case % 2]
        # The set's draws follow its indices, which those of a shard alone are not.
        if first or count != SAMPLES:
            options = self.options[0]
        wanted = self.wanted[self.options.index(options)]
        epoch = load(source, **options)
        if isinstance(epoch, str):
            self.refused += 1
            check(str(self.set) in epoch, f"{what}: the error names no file: {epoch}")
            return
        found = len(epoch.images) + len(epoch.failures)
        check(found == count, f"{what}: {found} samples of {count}, without an error")
        self.compare_samples(epoch, wanted, first, what)

    def compare_samples(self, epoch: Epoch, wanted: Epoch, first: int, what: str) -> None:
        loaded = iter(zip(epoch.images, epoch.labels, strict=True))
        for index in range(len(epoch.images) + len(epoch.failures)):
            message = epoch.failures.get(index)
            if message is not None:
                self.failed += 1
                check(str(self.set) in message, f"{what}: the error names no file: {message}")
                continue
            image, label = next(loaded)
            same = np.array_equal(image, wanted.images[first + index])
            check(same and label == wanted.labels[first + index],
                  f"{what}: sample {index} is silently different")  # fmt: skip
            self.right += 1

    def damage(self, case: int, draw: random.Random) -> None:
        name = draw.choice(self.files)
        sound = (self.sound / name).read_bytes()
        if case % 50 == 49:  # a file of another set, in this one's place
            changed, how = (self.other / draw.choice(self.files)).read_bytes(), "another set's"
        else:
            change = draw.choice(SHARD_CHANGES if name in self.shards else INDEX_CHANGES)
            if name in self.shards and len(records_of(sound)) < 2:
                change = anything
            changed, how = change(sound, draw), change.__name__
        (self.set / name).write_bytes(changed)
        what = f"{name}, case {case} ({how})"
        self.compare(self.set, 0, SAMPLES, case, what)
        if name in self.shards and how != "another set's":
            first = sum(len(records_of((self.sound / earlier).read_bytes()))
                        for earlier in self.shards[: self.shards.index(name)])  # fmt: skip
            self.compare(self.set / name, first, len(records_of(sound)), 0, what + ", alone")
        (self.set / name).write_bytes(sound)


def damage_shards(scratch: Path, program: Path, count: int, draw: random.Random) -> str:
    loop = ShardLoop(scratch, program)
    check(len(loop.shards) > 1, "the set has one shard alone")
    loop.compare(loop.set, 0, SAMPLES, 0, "the sound set")
    check(loop.right == SAMPLES, "the sound set cannot be loaded")
    watch = Watch(count)
    for case in range(count):
        loop.damage(case, draw)
        watch.seen(case + 1)
    return (
        f"{count} mutated shards and indexes: {loop.refused} refused, {loop.failed} samples failed "
        f"by name, {loop.right} samples loaded right; {watch.text()}"
    )
