#!/usr/bin/env python3
"""Fails on an #include between folders of src/ that the table in ARCHITECTURE.md does not allow.

The table's rows are `| folder | layer | what it is | may include |`. A file belongs to the longest
folder that holds it. A row that allows `feed` allows every `feed/...` too. What may include what
must have no cycles, and every folder of src/ must have a row; a row may lack its folder.

Headers of a folder named testing/ are for tests: a *_test.cpp and what lies in a testing/ folder
itself may include those of any room, nothing else may.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from source_files import TESTING, is_test

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
HEADER_CELLS = ["folder", "layer", "what it is", "may include"]
SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


@dataclass
class Table:
    """Each folder with the folders that it may include besides itself."""

    allowed: dict[str, set[str]] = field(default_factory=dict)
    layer: dict[str, int] = field(default_factory=dict)

    def owner(self, path: str) -> str | None:
        """The longest folder of the table that holds `path` (relative to src/)."""
        parts = path.split("/")[:-1]
        for length in range(len(parts), 0, -1):
            folder = "/".join(parts[:length])
            if folder in self.allowed:
                return folder
        return None

    def allows(self, source: str, target: str) -> bool:
        names = self.allowed[source] | {source}
        return any(target == name or target.startswith(name + "/") for name in names)


def read_table(text: str) -> Table:
    table = Table()
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == HEADER_CELLS:
            inside = True
        elif inside and len(cells) == len(HEADER_CELLS) and not set(cells[0]) <= set("-: "):
            folder, layer, _, may_include = cells
            names = [] if may_include == "-" else may_include.split(",")
            table.allowed[folder] = {name.strip() for name in names}
            table.layer[folder] = int(layer)
    return table


def check_table(table: Table) -> list[str]:
    problems = []
    known = set(table.allowed)
    parents = {str(parent) for folder in known for parent in PurePosixPath(folder).parents}
    for folder, names in table.allowed.items():
        for name in sorted(names):
            if name not in known | parents:
                problems.append(f"ARCHITECTURE.md: {folder} may include {name}, which has no row")
    problems += find_cycle(table)
    return problems


def find_cycle(table: Table) -> list[str]:
    """One line that names a cycle of what may include what, or none."""
    folders = list(table.allowed)
    edges = {
        folder: [other for other in folders if other != folder and table.allows(folder, other)]
        for folder in folders
    }
    done: set[str] = set()

    def visit(folder: str, path: list[str]) -> list[str]:
        if folder in path:
            return [*path[path.index(folder) :], folder]
        if folder in done:
            return []
        for other in edges[folder]:
            if cycle := visit(other, [*path, folder]):
                return cycle
        done.add(folder)
        return []

    for folder in edges:
        if cycle := visit(folder, []):
            return ["ARCHITECTURE.md: the layers have a cycle: " + " -> ".join(cycle)]
    return []


def check_sources(source_root: Path, table: Table) -> list[str]:
    problems = []
    for path in sorted(source_root.rglob("*")):
        if path.suffix not in SOURCE_SUFFIXES:
            continue
        relative = path.relative_to(source_root).as_posix()
        owner = table.owner(relative)
        if owner is None:
            problems.append(f"src/{relative}: its folder has no row in ARCHITECTURE.md")
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            included = match.group(1)
            if TESTING in PurePosixPath(included).parent.parts:
                problem = check_testing_include(source_root, relative, included)
            else:
                problem = check_include(source_root, table, owner, included)
            if problem:
                line = text.count("\n", 0, match.start(1)) + 1
                problems.append(f"src/{relative}:{line}: {problem}")
    return problems


def check_include(source_root: Path, table: Table, owner: str, included: str) -> str | None:
    if ".." in included.split("/") or included.startswith("/"):
        return f'#include "{included}": write it from src/, without ..'
    target = table.owner(included)
    if target is None:
        if (source_root / included).exists():
            return f'#include "{included}": its folder has no row in ARCHITECTURE.md'
        return f'#include "{included}": no such file below src/; libraries go in <>'
    if not table.allows(owner, target):
        return f'#include "{included}": {owner} may not include {target}'
    return None


def check_testing_include(source_root: Path, relative: str, included: str) -> str | None:
    if not (source_root / included).exists():
        return f'#include "{included}": no such file below src/'
    if not is_test(PurePosixPath(relative)):
        return f'#include "{included}": only tests may include what is for tests'
    return None


def check(root: Path) -> list[str]:
    table = read_table((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    if not table.allowed:
        return ["ARCHITECTURE.md: found no table | folder | layer | what it is | may include |"]
    return check_table(table) + check_sources(root / "src", table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    problems = check(parser.parse_args().root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
