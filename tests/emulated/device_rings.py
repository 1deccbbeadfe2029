"""Reads the rings of emulated GPUs, as docs/formats/run.md describes them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

HEADER_BYTES = 4096
KERNEL = 10
COPY = 1
RUNTIME = 5


@dataclass
class Kernel:
    name: str  # as in the program: mangled
    start_ns: int
    end_ns: int
    correlation: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


def read_records(ring: Path) -> list[tuple[int, bytes]]:
    """The records that are left, oldest first: kind and payload."""
    data = ring.read_bytes()
    magic, _version, kind, record_size = struct.unpack_from("<8sIII", data)
    assert (magic, kind) == (b"UNSTRING", 2)
    capacity, written = struct.unpack_from("<QQ", data, 24)
    records = []
    for number in range(max(0, written - capacity), written):
        at = HEADER_BYTES + number % capacity * record_size
        record_kind, size = struct.unpack_from("<II", data, at)
        records.append((record_kind, data[at + 8 : at + 8 + size]))
    return records


def read_kernels(ring: Path) -> list[Kernel]:
    names = Path(f"{ring}.names").read_text().split("\n")
    kernels = []
    for kind, payload in read_records(ring):
        if kind != KERNEL:
            continue
        start, end = struct.unpack_from("<QQ", payload, 16)
        (correlation,) = struct.unpack_from("<I", payload, 92)
        (name,) = struct.unpack_from("<Q", payload, 104)
        shape = struct.unpack_from("<6i", payload, 52)
        kernels.append(Kernel(names[name], start, end, correlation, shape[:3], shape[3:]))
    return sorted(kernels, key=lambda kernel: kernel.start_ns)


def busy_ratio(kernels: list[Kernel], begin_ns: int, end_ns: int) -> float:
    """Of the time from begin to end, how much some kernel ran."""
    busy, covered = 0, begin_ns
    for kernel in kernels:
        start, end = max(kernel.start_ns, covered), min(kernel.end_ns, end_ns)
        if end > start:
            busy += end - start
        covered = max(covered, end)
    return busy / (end_ns - begin_ns)
