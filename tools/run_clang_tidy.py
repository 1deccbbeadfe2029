#!/usr/bin/env python3
"""Runs clang-tidy over the sources below src/, several at a time, remembering what was clean.

A source is looked at again only when it, a header of ours that it reaches, its compile command or
the configuration has changed: the memory is one empty file per clean state in build/tidy-cache.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# clang-tidy counts the warnings that it did not show; nobody needs to know.
NOISE = re.compile(r"^(\d+ warnings? (generated|treated)|Suppressed \d+|Use -header-filter)")


@dataclass(frozen=True)
class Source:
    path: Path
    command: str


def sources_of(build: Path, source_root: Path) -> list[Source]:
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in entries:
        path = Path(entry["file"])
        if source_root in path.parents and not path.stem.endswith("_test"):
            found[path] = Source(path, entry["command"])
    return [found[path] for path in sorted(found)]


@cache
def own_headers(path: Path, source_root: Path) -> frozenset[Path]:
    """The headers below src/ that a file names; quotes are only used for those."""
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    return frozenset(source_root / name for name in names if (source_root / name).is_file())


def reached(path: Path, source_root: Path) -> list[Path]:
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting += own_headers(current, source_root)
    return sorted(seen)


def key_of(source: Source, source_root: Path, common: bytes) -> str:
    digest = hashlib.sha256(common + source.command.encode())
    for path in reached(source.path, source_root):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def run_one(source: Source, build: Path) -> str:
    """What clang-tidy has to say; empty when it is content."""
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build), str(source.path)],
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return ""
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if line and not NOISE.match(line))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--build", type=Path, default=Path("build/clang-thread-safety"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    build = (root / options.build).resolve()
    source_root = root / "src"
    memory = root / "build" / "tidy-cache"
    memory.mkdir(parents=True, exist_ok=True)

    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    common = version + (root / ".clang-tidy").read_bytes()
    keys = {s: key_of(s, source_root, common) for s in sources_of(build, source_root)}
    waiting = [source for source, key in keys.items() if not (memory / key).exists()]
    # The largest first, so that no long one is left for the end.
    waiting.sort(key=lambda source: -source.path.stat().st_size)

    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for source, said in zip(
            waiting, pool.map(lambda s: run_one(s, build), waiting), strict=True
        ):
            if said:
                failed += 1
                print(said)
            else:
                (memory / keys[source]).touch()
    print(f"clang-tidy: {len(keys)} sources, {len(waiting)} looked at, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
