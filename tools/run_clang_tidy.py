#!/usr/bin/env python3
"""Runs clang-tidy over the sources below src/, several at a time, remembering what was clean.

It looks at them as they are compiled: those of a folder as one unit, which takes a quarter of the
time, since their headers are read once. A unit is looked at again only when it, a header of ours
that it reaches, its compile command, the configuration or an installed library has changed: the
memory is one empty file per clean state below ~/.cache (or XDG_CACHE_HOME), which every checkout on
the machine shares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from source_files import is_test

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# What CMake makes of a folder's sources, and those of test programs.
UNIT = re.compile(r"/src/.*\.dir/Unity/unity_[^/]*$")
OF_TESTS = re.compile(r"_test\.dir/Unity/")
FORGOTTEN_AFTER_S = 60 * 24 * 3600
# A unit includes its sources.
UNITS_INCLUDE = "--checks=-bugprone-suspicious-include"
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
        alone = source_root in path.parents and not is_test(path.relative_to(source_root))
        if alone or (UNIT.search(entry["file"]) and not OF_TESTS.search(entry["file"])):
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


def size_of(source: Source, source_root: Path) -> int:
    """Bytes of the sources that are compiled in it."""
    named = {path for path in own_headers(source.path, source_root) if path.suffix == ".cpp"}
    return sum(path.stat().st_size for path in named | {source.path})


def made_of(wanted: set[Path], sources: list[Source], source_root: Path) -> list[Source]:
    """Those of the sources, or the units of them."""
    return [s for s in sources if wanted & {s.path, *own_headers(s.path, source_root)}]


def own_settings(path: Path, source_root: Path) -> list[Path]:
    """What the folders on the way to a source set for themselves, or to those of a unit."""
    if source_root not in path.parents:
        named = [one for one in own_headers(path, source_root) if one.suffix == ".cpp"]
        return sorted({own for one in named for own in own_settings(one, source_root)})
    folders = [folder for folder in path.parents if source_root in (folder, *folder.parents)]
    return [folder / ".clang-tidy" for folder in folders if (folder / ".clang-tidy").exists()]


def options_of(source: Source, source_root: Path) -> list[str]:
    """clang-tidy looks for settings on the way to the file that it is given. A unit's lies in the
    build: what its sources' folder sets goes on top of what it finds there."""
    if source_root in source.path.parents:
        return []
    own = own_settings(source.path, source_root)
    if len(own) > 1:
        raise ValueError(f"{source.path}: more than one of {own} applies; a unit has one")
    return [f"--config={path.read_text(encoding='utf-8')}" for path in own]


def key_of(source: Source, source_root: Path, common: bytes) -> str:
    """Of everything that the answer depends on, but not of where the checkout lies."""
    root = source_root.parent
    common += b"".join(path.read_bytes() for path in own_settings(source.path, source_root))
    digest = hashlib.sha256(common + source.command.replace(str(root), ".").encode())
    for path in reached(source.path, source_root):
        name = path.relative_to(root).as_posix()
        content = path.read_bytes().replace(str(root).encode(), b".")
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()


def installed_libraries() -> bytes:
    """The versions of the packages with headers, where packages can be asked for."""
    try:
        done = subprocess.run(["dpkg-query", "-W", "*-dev"], capture_output=True)
    except OSError:
        return b""
    return done.stdout


def open_memory() -> Path:
    """The folder of clean states; those that nobody asked for in two months go."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    memory = cache / "unstarve" / "clang-tidy"
    memory.mkdir(parents=True, exist_ok=True)
    oldest = time.time() - FORGOTTEN_AFTER_S
    for state in memory.iterdir():
        if state.stat().st_mtime < oldest:
            state.unlink(missing_ok=True)
    return memory


def run_one(source: Source, build: Path, source_root: Path) -> str:
    """What clang-tidy has to say; empty when it is content."""
    done = subprocess.run(
        [
            *["clang-tidy", "--quiet", UNITS_INCLUDE, *options_of(source, source_root)],
            *["-p", str(build), str(source.path)],
        ],
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
    parser.add_argument(
        "--of", nargs="+", type=Path, metavar="SOURCE", help="only what is made of one of these"
    )
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    build = (root / options.build).resolve()
    source_root = root / "src"
    memory = open_memory()

    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    # nanobind's headers come with the pinned package.
    settings = [root / ".clang-tidy", root / "requirements" / "build.txt"]
    common = version + b"".join(path.read_bytes() for path in settings) + installed_libraries()
    sources = sources_of(build, source_root)
    if options.of is not None:
        sources = made_of({root / path for path in options.of}, sources, source_root)
    keys = {s: key_of(s, source_root, common) for s in sources}
    waiting = [source for source, key in keys.items() if not (memory / key).exists()]
    for source in keys.keys() - set(waiting):
        (memory / keys[source]).touch()
    # The largest first, so that no long one is left for the end.
    waiting.sort(key=lambda source: -size_of(source, source_root))

    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for source, said in zip(
            waiting, pool.map(lambda s: run_one(s, build, source_root), waiting), strict=True
        ):
            if said:
                failed += 1
                print(said)
            else:
                (memory / keys[source]).touch()
    print(f"clang-tidy: {len(keys)} units, {len(waiting)} looked at, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
