#!/usr/bin/env python3
"""Writes empty stand-ins for the absent NVIDIA libraries that a PyTorch is linked with.

PyTorch from PyPI does not load without 3 GB of CUDA libraries, even where there is no GPU. What the
dynamic linker wants of them is their names, versions and symbols: the stand-ins have those, every
function answers with an error, and torch.cuda.is_available() says False.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Library by library, how its functions begin where they carry no version that says whose they are.
PREFIXES = {
    "libcuda": "cu(?!File)[A-Z]",
    "libcudart": "cuda|__cuda",
    "libcublas": "cublas[A-KM-Z]|cublasL(?!t)",
    "libcublasLt": "cublasLt",
    "libcudnn": "cudnn",
    "libcufft": "cufft",
    "libcufile": "cuFile",
    "libcupti": "cupti",
    "libcurand": "curand",
    "libcusolver": "cusolver",
    "libcusparse": "cusparse(?!Lt)",
    "libcusparseLt": "cusparseLt",
    "libnccl": "nccl|pnccl",
    "libnvJitLink": "nvJitLink|__nvJitLink",
    "libnvrtc": "nvrtc",
    "libnvshmem_host": "nvshmem",
    "libnvToolsExt": "nvtx",
}
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
VERSION_OF = re.compile(r"\bFile: (\S+)")
VERSION = re.compile(r"\bName: (\S+)\s+Flags")
SYMBOL = re.compile(r"\sUND\s+([A-Za-z_]\w*)(?:@(\S+))?")

# 100 is cudaErrorNoDevice and CUDA_ERROR_NO_DEVICE, and an error to all the others too. What
# registers kernels when a library is loaded gives back a handle and cannot fail.
SOURCE = """
static char handle[4096];
#define FAILS(name) long name(void) { return 100; }
#define REGISTERS(name) void *name(void) { return handle; }
#define SAYS(name) const char *name(void) { return "this is a stand-in for a CUDA library"; }
"""


@dataclass
class Wanted:
    """What the libraries at hand ask of one that is absent."""

    versions: set[str] = field(default_factory=set)
    versioned: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    plain: set[str] = field(default_factory=set)


def read_elf(option: str, path: Path) -> str:
    command = ["readelf", "--wide", option, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stem(library: str) -> str:
    return library.split(".so")[0]


def version_needs(path: Path) -> Iterator[tuple[str, str]]:
    library = ""
    for line in read_elf("--version-info", path).splitlines():
        if found := VERSION_OF.search(line):
            library = found[1]
        if found := VERSION.search(line):
            yield library, found[1]


def wanted_by(folder: Path) -> dict[str, Wanted]:
    """By library: what those in the folder need of NVIDIA's that do not lie there."""
    libraries = sorted({path.resolve() for path in folder.rglob("*.so*") if path.is_file()})
    present = {path.name for path in folder.rglob("*.so*")}
    wanted: dict[str, Wanted] = {}
    for path in libraries:
        for name in NEEDED.findall(read_elf("--dynamic", path)):
            if name not in present and stem(name) in PREFIXES:
                wanted.setdefault(name, Wanted())
    for path in libraries:
        owner = {}
        for name, version in version_needs(path):
            if name in wanted:
                wanted[name].versions.add(version)
                owner[version] = name
        for symbol, version in SYMBOL.findall(read_elf("--dyn-syms", path)):
            if version in owner:
                wanted[owner[version]].versioned[version].add(symbol)
            elif not version:
                for name, about in wanted.items():
                    if re.match(PREFIXES[stem(name)], symbol):
                        about.plain.add(symbol)
    return wanted


def definition(symbol: str) -> str:
    if "egister" in symbol and symbol.startswith("__"):
        return f"REGISTERS({symbol})"
    if symbol.endswith(("String", "Name", "GetErrorMessage")) and "Error" in symbol:
        return f"SAYS({symbol})"
    return f"FAILS({symbol})"


def write(name: str, about: Wanted, folder: Path, scratch: Path) -> None:
    symbols = about.plain.union(*about.versioned.values())
    source, script = scratch / "stand_in.c", scratch / "stand_in.map"
    source.write_text(SOURCE + "\n".join(map(definition, sorted(symbols))) + "\n")
    options = []
    if about.versions:
        script.write_text(
            "".join(
                f"{version} {{ {''.join(['global: ', *(f'{s}; ' for s in names)]) if names else ''}"
                "};\n"
                for version in sorted(about.versions)
                for names in [sorted(about.versioned[version])]
            )
        )
        options = [f"-Wl,--version-script={script}"]
    target = folder / name
    command = ["gcc", "-shared", "-fPIC", "-O1", "-w", f"-Wl,-soname,{name}", "-o", str(target)]
    subprocess.run([*command, str(source), *options], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("torch", type=Path, help="the folder of the package torch")
    torch = parser.parse_args().torch
    wanted = wanted_by(torch)
    with tempfile.TemporaryDirectory() as scratch:
        for name, about in sorted(wanted.items()):
            # torch's own libraries look for others beside themselves first.
            write(name, about, torch / "lib", Path(scratch))
    print(f"stand-ins written for {len(wanted)} libraries: {' '.join(sorted(wanted))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
