"""How much a CPU's caches hold: what of an operator's operands need not come from the memory."""

from __future__ import annotations

import os
import re

_CPUS = "/sys/devices/system/cpu"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def all_caches_bytes(cpus: str = _CPUS) -> int:
    """Of all CPUs and levels together, each cache once: some CPUs keep in a higher level what is in
    no lower one, so that all of them hold different data. 0 where the system does not say."""
    found: dict[tuple[str, str, str], int] = {}
    for cpu in _entries(cpus, r"cpu\d+"):
        for index in _entries(os.path.join(cpu, "cache"), r"index\d+"):
            level, kind, shared, size = (
                _read(os.path.join(index, name))
                for name in ("level", "type", "shared_cpu_list", "size")
            )
            if kind != "Instruction" and size[:-1].isdigit() and size[-1] in _UNITS:
                found[level, kind, shared] = int(size[:-1]) * _UNITS[size[-1]]
    return sum(found.values())


def _entries(folder: str, pattern: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if re.fullmatch(pattern, name)]


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
