#!/usr/bin/env python3
"""Fails on what the compilers and linters do not look at: sizes, banners, left-over notes.

Each rule is one small function from a file to its problems; CONTRIBUTING.md says why they are.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from source_files import is_test, project_files

CODE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".py", ".pyi", ".sh", ".cmake"}
CPP_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
LINE_COLUMNS_MAX = 100
LINES_MAX = {".h": 200, ".cpp": 500, ".cu": 500, ".py": 500, ".sh": 500}
FOLDER_SOURCES_MAX = 15
FOLDER_README_LINES_MAX = 30
PROSE_COLUMNS_MAX = 120
ROOT_README_LINES_MAX = 120
# Built from halves, so that this file does not break its own rule.
LEFT_OVER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
# What the project's own tests need is in requirements/ and scripts/install_packages.sh.
HIDDEN_TEST = re.compile(r"\bimportor" + r"skip\(")
BANNER = re.compile(r"^\s*(//|#|/\*)\s*([-=*#~/])\2{4,}")


@dataclass(frozen=True)
class File:
    root: Path
    path: Path

    @cached_property
    def name(self) -> str:
        return self.path.relative_to(self.root).as_posix()

    @cached_property
    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines()

    @property
    def is_code(self) -> bool:
        return self.path.suffix in CODE_SUFFIXES or self.path.name == "CMakeLists.txt"


def check_lines(file: File) -> Iterator[str]:
    if not file.is_code:
        return
    for number, line in enumerate(file.lines, start=1):
        where = f"{file.name}:{number}"
        # A line that is one unbreakable word, such as an address, may be longer.
        if len(line) > LINE_COLUMNS_MAX and len(line.split()) > 2:
            yield f"{where}: {len(line)} columns; at most {LINE_COLUMNS_MAX}"
        if LEFT_OVER.search(line):
            yield f"{where}: do it, or write it down in docs/known_gaps.md"
        if BANNER.match(line):
            yield f"{where}: a section banner; split the file instead"
        if HIDDEN_TEST.search(line):
            yield f"{where}: a test that hides where a package is missing; install it instead"


def check_prose(file: File) -> Iterator[str]:
    """Tables, and code that is shown, may be as wide as they are."""
    if file.path.suffix != ".md":
        return
    for number, line in enumerate(file.lines, start=1):
        shown = line.lstrip().startswith("|") or line.startswith("    ")
        if len(line) > PROSE_COLUMNS_MAX and not shown and len(line.split()) > 2:
            yield f"{file.name}:{number}: {len(line)} columns; at most {PROSE_COLUMNS_MAX}"


def check_size(file: File) -> Iterator[str]:
    limit = LINES_MAX.get(file.path.suffix)
    if limit is not None and len(file.lines) > limit:
        yield f"{file.name}: {len(file.lines)} lines; at most {limit} for {file.path.suffix}"


def check_pragma_once(file: File) -> Iterator[str]:
    # Highway reads headers with a toggle once per instruction set.
    toggles = any("HWY_TARGET_TOGGLE" in line for line in file.lines)
    if file.path.suffix == ".h" and "#pragma once" not in file.lines and not toggles:
        yield f"{file.name}: no #pragma once"


def check_readme_size(file: File) -> Iterator[str]:
    if file.path.name != "README.md":
        return
    limit = ROOT_README_LINES_MAX if file.name == "README.md" else FOLDER_README_LINES_MAX
    is_ours = file.name == "README.md" or file.name.startswith(("src/", "python/"))
    if is_ours and len(file.lines) > limit:
        yield f"{file.name}: {len(file.lines)} lines; at most {limit}"


def is_library_source(file: File) -> bool:
    return file.path.suffix in CPP_SUFFIXES and not is_test(Path(file.name))


def check_folders(files: list[File]) -> Iterator[str]:
    """A folder of src/ can be taken in at a glance; like one of the package it says what it is."""
    sources = [file for file in files if file.name.startswith("src/") and is_library_source(file)]
    # x.h and x.cpp are one thing to a reader, so a folder's size is counted in stems.
    stems = {(Path(file.name).parent, file.path.stem) for file in sources}
    for folder, count in sorted(Counter(folder for folder, _ in stems).items()):
        if count > FOLDER_SOURCES_MAX:
            yield f"{folder}: {count} sources; at most {FOLDER_SOURCES_MAX}"
    names = {file.name for file in files}
    tops = {Path(file.name).parent.as_posix() for file in sources}
    modules = (Path(file.name) for file in files if file.path.suffix == ".py")
    tops |= {
        "/".join(path.parts[:3])
        for path in modules
        if path.is_relative_to("python/unstarve/") and len(path.parts) > 3
    }
    for top in sorted(tops):
        if f"{top}/README.md" not in names:
            yield f"{top}: no README.md that says what comes in and what goes out"


FILE_RULES = (check_lines, check_prose, check_size, check_pragma_once, check_readme_size)


def check(root: Path) -> list[str]:
    files = [File(root, path) for path in project_files(root)]
    texts = [f for f in files if f.is_code or f.path.suffix in {".md", ".cu"}]
    problems = [problem for file in texts for rule in FILE_RULES for problem in rule(file)]
    return problems + list(check_folders(texts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    problems = check(parser.parse_args().root.resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
