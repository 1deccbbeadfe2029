#!/usr/bin/env python3
"""What a change concerns: the rooms of src/ that may behave otherwise, and kinds of files.

Counted from the commit at which a check last passed on everything, which .ci/passed names for each
(`make nightly`), to the files as they lie here. It errs to the side of running: where that commit
is not known here, or what builds everything has changed, everything is concerned.

A room is a folder right below src/, or `tests` (those that cross rooms) or `fuzz`. It is concerned
where a file of it has changed or one of a room that it includes, however indirectly.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from source_files import project_files

PASSED = ".ci/passed"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
CPP_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
# What every program is built by.
BUILDS_ALL = (
    "CMakeLists.txt",
    "CMakePresets.json",
    "cmake/*",
    "scripts/build.sh",
    "scripts/install_packages.sh",
    "requirements/build.txt",
    "tools/run_checks.py",
    "tools/affected.py",
    "tools/test_rooms.py",
)
DATA_OF_TESTS = ("tests/data/*", "tests/golden/*")


def git(root: Path, *words: str) -> str | None:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def passed_commits(root: Path) -> dict[str, str]:
    """Of each check the commit at which it last passed on everything."""
    path = root / PASSED
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict(re.findall(r"^([a-z-]+) ([0-9a-f]{40})$", text, re.MULTILINE))


def passed_commit(root: Path, check: str) -> str | None:
    """The commit at which a check last passed on everything, if this clone has it."""
    commit = passed_commits(root).get(check)
    return commit if commit and git(root, "cat-file", "-e", commit) is not None else None


def changed_files(root: Path, commit: str) -> frozenset[str] | None:
    """Those that differ from `commit`, new, changed or gone; nothing where git cannot say."""
    differing = git(root, "diff", "--name-only", "--no-renames", "-z", commit, "--")
    new = git(root, "ls-files", "-z", "--others", "--exclude-standard")
    if differing is None or new is None:
        return None
    return frozenset(name for name in (differing + new).split("\0") if name)


def room_of(path: str) -> str | None:
    """The room that a C++ file belongs to."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in ("tests", "fuzz") and len(parts) > 1 else None


@dataclass(frozen=True)
class Sources:
    """The C++ files of a checkout, by name, with what they include of ours."""

    includes: dict[str, frozenset[str]]
    reading_test_data: frozenset[str]

    @staticmethod
    def read(root: Path) -> Sources:
        includes = {}
        reading = set()
        for path in project_files(root):
            name = path.relative_to(root).as_posix()
            if path.suffix not in CPP_SUFFIXES or not room_of(name):
                continue
            text = path.read_text(encoding="utf-8")
            found = [
                f"{base}/{header}" for header in INCLUDE.findall(text) for base in ("src", "tests")
            ]
            includes[name] = frozenset(found)
            if "UNSTARVE_SOURCE_DIR" in text or "tests/data" in text:
                reading.add(name)
        known = set(includes)
        return Sources({n: i & known for n, i in includes.items()}, frozenset(reading))

    @cached_property
    def rooms(self) -> dict[str, frozenset[str]]:
        """Each room with those that it includes."""
        found: dict[str, set[str]] = {}
        for name, included in self.includes.items():
            room = room_of(name) or ""
            found.setdefault(room, set()).update(room_of(other) or "" for other in included)
        return {room: frozenset(others - {room}) for room, others in found.items()}

    def reaching(self, changed: frozenset[str]) -> set[str]:
        """The files that are changed, or include such a file, however indirectly."""
        reached = {name for name in self.includes if name in changed}
        while True:
            more = {n for n, i in self.includes.items() if n not in reached and i & reached}
            if not more:
                return reached
            reached |= more


@dataclass(frozen=True)
class Change:
    """`files`: those that differ; None: nobody knows, so everything does."""

    root: Path
    since: str | None
    files: frozenset[str] | None

    @staticmethod
    def of(root: Path, check: str) -> Change:
        """Since the check last passed."""
        return Change.since_commit(root, passed_commit(root, check))

    @staticmethod
    def since_commit(root: Path, commit: str | None) -> Change:
        return Change(root, commit, changed_files(root, commit) if commit else None)

    def touches(self, *patterns: str) -> bool:
        """Whether a file of such a name has changed; a * takes slashes too."""
        if self.files is None:
            return True
        return any(fnmatch(name, pattern) for name in self.files for pattern in patterns)

    @cached_property
    def sources(self) -> Sources:
        return Sources.read(self.root)

    @cached_property
    def rooms(self) -> frozenset[str]:
        """The rooms whose programs may behave otherwise."""
        every = frozenset(self.sources.rooms)
        if self.files is None or self.touches(*BUILDS_ALL):
            return every
        found = {room for name in self.files if (room := room_of(name)) and is_of_programs(name)}
        if self.touches(*DATA_OF_TESTS):
            found |= {"tests"} | {room_of(name) or "" for name in self.sources.reading_test_data}
        while more := {r for r, i in self.sources.rooms.items() if i & found} - found:
            found |= more
        return frozenset(found) & every

    @cached_property
    def alone(self) -> list[str]:
        """The sources whose meaning has changed, those of tests among them."""
        names = [name for name in self.sources.includes if name.endswith(".cpp")]
        if self.files is None or self.touches(*BUILDS_ALL):
            return sorted(names)
        reached = self.sources.reaching(self.files)
        return sorted(name for name in names if name in reached)


def is_of_programs(name: str) -> bool:
    """Whether a file is compiled into something, or says how."""
    path = Path(name)
    if room_of(name) == "tests":
        return path.suffix in CPP_SUFFIXES or path.name == "CMakeLists.txt"
    return path.suffix != ".md"


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    for check in sys.argv[1:] or sorted(passed_commits(root)):
        change = Change.of(root, check)
        print(f"{check}: since {(change.since or 'ever')[:12]}", end="")
        print(f", {len(change.alone)} sources whose meaning has changed", end="")
        print(f"; rooms {' '.join(sorted(change.rooms)) or 'none'}")


if __name__ == "__main__":
    main()
