#!/usr/bin/env python3
"""Fails on an #include between folders of src/ that the table in ARCHITECTURE.md does not allow.

The table's rows are `| folder | layer | what it is | may include |`. A file belongs to the longest
folder that holds it. A row that allows `feed` allows every `feed/...` too. What may include what
must have no cycles, and every folder of src/ must have a row or lie in one that has; a row may lack
its folder.

No two folders may include each other, not by way of others either, whether or not they have rows.
Those that do stand in ARCHITECTURE.md as `| folders that include each other | why |`; that table
may hold no folder that has become free.

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
CIRCLE_CELLS = ["folders that include each other", "why"]
SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


@dataclass
class Table:
    """Each folder with the folders that it may include besides itself."""

    allowed: dict[str, set[str]] = field(default_factory=dict)
    layer: dict[str, int] = field(default_factory=dict)
    circles: list[frozenset[str]] = field(default_factory=list)

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


def read_rows(text: str, header: list[str]) -> list[list[str]]:
    """The cells of the rows below each heading `header`."""
    rows = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == header:
            inside = True
        elif inside and len(cells) == len(header) and not set(cells[0]) <= set("-: "):
            rows.append(cells)
    return rows


def read_names(cell: str) -> set[str]:
    return set() if cell == "-" else {name.strip() for name in cell.split(",")}


def read_table(text: str) -> Table:
    table = Table()
    for folder, layer, _, may_include in read_rows(text, HEADER_CELLS):
        table.allowed[folder] = read_names(may_include)
        table.layer[folder] = int(layer)
    table.circles = [frozenset(read_names(cell)) for cell, _ in read_rows(text, CIRCLE_CELLS)]
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


def folder_graph(source_root: Path) -> dict[str, set[str]]:
    """What each folder of src/ includes of the others; what is for tests does not count."""
    graph: dict[str, set[str]] = {}
    for path in source_root.rglob("*"):
        relative = PurePosixPath(path.relative_to(source_root).as_posix())
        if path.suffix not in SOURCE_SUFFIXES or is_test(relative):
            continue
        included = graph.setdefault(str(relative.parent), set())
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            included.add(str(PurePosixPath(name).parent))
    return graph


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def find_circles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """Groups of folders of which each includes each, by way of others or not."""
    reach = {folder: reachable(graph, folder) for folder in graph}
    groups = {
        frozenset(other for other in reach[folder] if folder in reach.get(other, set()))
        for folder in graph
    }
    return sorted((group for group in groups if len(group) > 1), key=sorted)


def check_circles(source_root: Path, table: Table) -> list[str]:
    problems = []
    known = set().union(*table.circles)
    bound: set[str] = set()
    for group in find_circles(folder_graph(source_root)):
        bound |= group
        if not any(group <= listed for listed in table.circles):
            problems.append("src: these folders include each other: " + ", ".join(sorted(group)))
    for free in sorted(known - bound):
        problems.append(f"ARCHITECTURE.md: {free} is in no circle any more; take it off the list")
    return problems


def check(root: Path) -> list[str]:
    table = read_table((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    if not table.allowed:
        return ["ARCHITECTURE.md: found no table | folder | layer | what it is | may include |"]
    sources = root / "src"
    return check_table(table) + check_sources(sources, table) + check_circles(sources, table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    problems = check(parser.parse_args().root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
