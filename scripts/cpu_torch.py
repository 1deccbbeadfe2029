#!/usr/bin/env python3
"""Lets a CUDA build of PyTorch run where there is no GPU, without NVIDIA's libraries.

    usage: cpu_torch.py SITE_PACKAGES    after `pip install --no-deps torch torchvision` into it

PyTorch's libraries are linked with NVIDIA's (3 GB), and do not load without them, though none of
their functions is of use without a GPU. This makes small libraries of the same names, with the
functions that PyTorch's libraries ask for; each answers that there is no device. They lie where
PyTorch looks for the real ones. PyTorch's list of requirements is shortened by NVIDIA's packages
and Triton, so that pip does not bring them after all.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

#: Requirements of PyTorch that are of no use without a GPU.
GPU_REQUIREMENT = re.compile(r"Requires-Dist: (nvidia|cuda|triton)\b")
#: Names of functions in NVIDIA's libraries; those without a version are known by them alone.
NVIDIA = re.compile(r"(__cuda|cuda|cu[A-Z]|cublas|cudnn|cufft|cusolver|cusparse|nccl|nv[a-z]+_?)")
#: From the driver, or found in PyTorch's own folders.
NOT_OURS = re.compile(r"lib(cuda\.so|nvidia-ml|torch|c10|shm)")
LIBRARY = re.compile(r"lib(cu|nccl|nv)[A-Za-z_]*\.so\.\d+$")
#: cudaErrorNoDevice; any value but 0 is an error to the other libraries as well.
NO_DEVICE = 100


@dataclass
class Needed:
    """What some libraries ask of one that is not there: its functions, by version ('': none)."""

    functions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def read_elf(library: Path) -> str:
    """readelf's account of what a library needs and gives."""
    command = ["readelf", "--wide", "--dynamic", "--version-info", "--dyn-syms", str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def versions_of(text: str) -> dict[str, str]:
    """Which library each version of a symbol is to come from."""
    homes: dict[str, str] = {}
    library = ""
    for line in text.splitlines():
        if of_file := re.search(r"Version: \d+\s+File: (\S+)\s+Cnt:", line):
            library = of_file[1]
        elif name := re.search(r"Name: (\S+)\s+Flags: \S+\s+Version: \d+", line):
            homes[name[1]] = library
    return homes


def find_needed(libraries: list[Path]) -> dict[str, Needed]:
    """The missing libraries, by the name under which they are asked for."""
    needed: dict[str, Needed] = {}
    unversioned: set[str] = set()
    given: set[str] = set()
    symbol = re.compile(r"^\s*\d+: \S+\s+\S+ \S+\s+(\S+)\s+\S+\s+(\S+) ([\w.]+)(?:@+(\S+))?")
    for library in libraries:
        text = read_elf(library)
        for name in re.findall(r"\(NEEDED\)\s+Shared library: \[([^]]+)\]", text):
            if LIBRARY.match(name) and not NOT_OURS.match(name):
                needed.setdefault(name, Needed())
        homes = versions_of(text)
        for line in text.splitlines():
            if not (found := symbol.match(line)):
                continue
            binding, section, name, version = found.groups()
            if section != "UND":
                given.add(name)
            elif version and homes.get(version) in needed:
                needed[homes[version]].functions[version].add(name)
            elif not version and binding != "WEAK" and NVIDIA.match(name):
                unversioned.add(name)
    if needed:  # any library that is loaded serves these
        needed[sorted(needed)[0]].functions[""] |= unversioned - given
    return needed


def source_of(functions: set[str]) -> str:
    """One function per name. What returns text must return some: callers print it."""
    lines = []
    for name in sorted(functions):
        if re.search(r"Get(\w*)(String|Name)$|get_error_string", name):
            lines.append(f'const char* {name}(void) {{ return "there is no NVIDIA GPU here"; }}')
        else:
            lines.append(f"long {name}(void) {{ return {NO_DEVICE}; }}")
    return "\n".join(lines) + "\n"


def make_library(name: str, needed: Needed, folder: Path) -> None:
    everything = set().union(*needed.functions.values()) if needed.functions else set()
    with tempfile.TemporaryDirectory() as work:
        source, exports = Path(work) / "library.c", Path(work) / "exports.map"
        source.write_text(source_of(everything), encoding="utf-8")
        versions = [
            f"{version} {{ global: {' '.join(f'{name};' for name in sorted(names))} }};"
            for version, names in sorted(needed.functions.items())
            if version
        ]
        exports.write_text("\n".join(versions) + "\n", encoding="utf-8")
        command = ["cc", "-shared", "-fPIC", "-O1", "-w", "-fno-builtin", "-nostdlib"]
        command += [f"-Wl,-soname,{name}", "-Wl,--build-id=none", "-s", "-o", str(folder / name)]
        if versions:
            command.append(f"-Wl,--version-script={exports}")
        subprocess.run([*command, str(source)], check=True)


def forget_gpu_packages(site: Path) -> None:
    for metadata in site.glob("torch-*.dist-info/METADATA"):
        lines = metadata.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not GPU_REQUIREMENT.match(line)]
        metadata.write_text("".join(kept), encoding="utf-8")


def folder_for(site: Path) -> Path:
    """The last of the folders in which PyTorch looks for NVIDIA's: real ones elsewhere win."""
    text = read_elf(site / "torch" / "lib" / "libtorch_cuda.so")
    places = re.findall(r"\$ORIGIN/\.\./\.\./(nvidia/[^:\]]+)", text)
    if not places:
        sys.exit("this PyTorch does not look for NVIDIA's libraries beside itself")
    folder = site / str(places[-1])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit("usage: cpu_torch.py SITE_PACKAGES")
    site = Path(sys.argv[1])
    libraries = [*(site / "torch" / "lib").glob("*.so*"), *(site / "torchvision").glob("*.so")]
    folder = folder_for(site)
    for name, what in find_needed(sorted(libraries)).items():
        make_library(name, what, folder)
    forget_gpu_packages(site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
