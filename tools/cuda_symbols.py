#!/usr/bin/env python3
"""Keeps the lists of what CUDA builds of PyTorch need of NVIDIA's libraries.

src/emulated/missing/SONAME.txt says which functions of a library the emulation has to have,
written or as a stub that names itself. This reads it from the binaries of installed packages: given
one site-packages folder for each supported version, --write adds to the lists what they lack.
Without it, the names that a torch needs beyond them are printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, field
from pathlib import Path

from cuda_stand_ins import Wanted, stem, wanted_by

LISTS = Path(__file__).resolve().parent.parent / "src/emulated/missing"
PACKAGES = ("torch", "torchvision", "torchaudio", "torio", "functorch", "nvfuser")

# What each library's functions answer where they are stubs: its own "not supported".
NOT_SUPPORTED = {
    "libcublas": 15,
    "libcublasLt": 15,
    "libcuda": 801,
    "libcudart": 801,
    "libcudnn": 3000,
    "libcudnn.so.8": 9,
    "libcufft": 16,
    "libcufile": 5001,
    "libcupti": 27,
    "libcurand": 999,
    "libcusolver": 9,
    "libcusparse": 10,
    "libcusparseLt": 10,
    "libnccl": 3,
    "libnvJitLink": 1,
    "libnvidia-ml": 3,
    "libnvrtc": 11,
    "libnvshmem_host": 7,
    "libnvToolsExt": 0,
}
# torch looks the driver's functions up by name while it runs; all of them, or it gives up.
LOOKED_UP_BY = "libc10_cuda.so"
LOOKED_UP = {
    "libcuda.so.1": re.compile(rb"\0(cu[A-Z][A-Za-z0-9]+(?:_v[0-9])?)(?=\0)"),
    "libnvidia-ml.so.1": re.compile(rb"\0(nvml[A-Z][A-Za-z0-9]+(?:_v[0-9])?)(?=\0)"),
}
# Functions that give back a pointer, or nothing: 0 is what a caller survives.
GIVES_POINTER = re.compile(r"^nvshmemx?_(ptr|malloc|calloc|align|mc_ptr|team_my_pe|my_pe)$")


@dataclass
class Listed:
    """A list as it is kept: the error, the version of the symbols, the names with their results."""

    error: int
    version: str = ""
    results: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        head = f"{self.error} {self.version}".rstrip()
        rows = [f"{name} {result}".rstrip() for name, result in sorted(self.results.items())]
        return "\n".join([head, *rows]) + "\n"


def read_list(path: Path) -> Listed:
    head, *rows = path.read_text().splitlines()
    error, _, version = head.partition(" ")
    results = {name: result for name, _, result in (row.partition(" ") for row in rows)}
    return Listed(int(error), version, results)


def new_list(soname: str) -> Listed:
    return Listed(NOT_SUPPORTED.get(soname, NOT_SUPPORTED.get(stem(soname), 1)))


def add(listed: Listed, wanted: Wanted) -> list[str]:
    """Adds what is wanted; returns the names that are new."""
    names = wanted.plain.union(*wanted.versioned.values())
    versions = [version for version in sorted(wanted.versions) if wanted.versioned[version]]
    if len({*versions, listed.version} - {""}) > 1:
        raise SystemExit(f"one library under several versions: {listed.version} {versions}")
    listed.version = listed.version or "".join(versions)
    new = sorted(names - listed.results.keys())
    for name in new:
        listed.results[name] = "0" if GIVES_POINTER.match(name) else ""
    return new


def looked_up(site: Path) -> dict[str, Wanted]:
    binary = site / "torch/lib" / LOOKED_UP_BY
    content = binary.read_bytes() if binary.exists() else b""
    names = {soname: set(pattern.findall(content)) for soname, pattern in LOOKED_UP.items()}
    return {
        soname: Wanted(plain={name.decode() for name in found})
        for soname, found in names.items()
        if found
    }


def wanted_of(site: Path) -> dict[str, Wanted]:
    together = looked_up(site)
    for package in PACKAGES:
        for soname, wanted in wanted_by(site / package).items():
            one = together.setdefault(soname, Wanted())
            one.versions |= wanted.versions
            one.plain |= wanted.plain
            for version, names in wanted.versioned.items():
                one.versioned[version] |= names
    return together


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--write", action="store_true", help="add what the lists lack")
    parser.add_argument("sites", type=Path, nargs="+", help="site-packages folders with a torch")
    arguments = parser.parse_args()
    lacking = 0
    for site in arguments.sites:
        for soname, wanted in sorted(wanted_of(site).items()):
            path = LISTS / f"{soname}.txt"
            listed = read_list(path) if path.exists() else new_list(soname)
            new = add(listed, wanted)
            if arguments.write and (new or not path.exists()):
                path.write_text(listed.text())
            elif new or not path.exists():
                lacking += 1
                print(f"{site}: {soname} is needed with {' '.join(new) or 'no symbols'}")
    return 1 if lacking else 0


if __name__ == "__main__":
    raise SystemExit(main())
