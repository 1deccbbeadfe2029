#!/usr/bin/env python3
"""Fails on an import between parts of the Python package that ARCHITECTURE.md does not allow.

The table's rows are `| folder | what it is | may import |`. A part is a folder of python/unstarve,
or a module that lies beside the folders. What may import what must have no cycles, and each part
must have a row and each row its part. Imports in functions and for type checkers count as well.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from check_layers import Table, find_cycle

PACKAGE = "unstarve"
HEADER_CELLS = ["folder", "what it is", "may import"]
SUFFIXES = {".py", ".pyi"}


def read_table(text: str) -> Table:
    table = Table()
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells == HEADER_CELLS:
            inside = True
        elif inside and len(cells) == len(HEADER_CELLS) and not set(cells[0]) <= set("-: "):
            part, _, may_import = (cell.replace("`", "") for cell in cells)
            names = [] if may_import == "-" else may_import.split(",")
            table.allowed[part] = {name.strip() for name in names}
    return table


def check_table(table: Table, package: Path) -> list[str]:
    sources = (path.relative_to(package) for path in package.rglob("*") if is_source(path))
    there = {path.parts[0].split(".")[0] for path in sources}
    problems = [
        f"ARCHITECTURE.md: {part} may import {name}, which has no row"
        for part, names in table.allowed.items()
        for name in sorted(names - table.allowed.keys())
    ]
    gone = sorted(table.allowed.keys() - there)
    problems += [f"ARCHITECTURE.md: {part} has a row, and is not in the package" for part in gone]
    new = sorted(there - table.allowed.keys())
    problems += [f"python/{PACKAGE}/{part}: no row in ARCHITECTURE.md" for part in new]
    return problems + find_cycle(table)


def is_source(path: Path) -> bool:
    return path.suffix in SUFFIXES and "__pycache__" not in path.parts


def check_source(package: Path, path: Path, table: Table) -> Iterator[str]:
    within = path.relative_to(package)
    part = within.parts[0].split(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node in ast.walk(tree):
        for target in imported_parts(node, within.parts[:-1], table):
            if part in table.allowed and target not in table.allowed[part] | {part}:
                where = f"python/{PACKAGE}/{within.as_posix()}:{getattr(node, 'lineno', 0)}"
                yield f"{where}: {part} may not import {target}"


def imported_parts(node: ast.AST, folders: tuple[str, ...], table: Table) -> Iterator[str]:
    """The parts that a statement in a module below `folders` imports from."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from part_of(alias.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        module = node.module.split(".") if node.module else []
        if node.level > 0:
            module = [PACKAGE, *folders[: len(folders) - node.level + 1], *module]
        if module != [PACKAGE]:
            yield from part_of(module)
            return
        for alias in node.names:
            yield alias.name if alias.name in table.allowed else "__init__"


def part_of(module: list[str]) -> Iterator[str]:
    if module[0] == PACKAGE:
        yield module[1] if len(module) > 1 else "__init__"


def check(root: Path) -> list[str]:
    package = root / "python" / PACKAGE
    table = read_table((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    if not table.allowed:
        return [f"ARCHITECTURE.md: found no table | {' | '.join(HEADER_CELLS)} |"]
    problems = check_table(table, package)
    for path in sorted(package.rglob("*")):
        if is_source(path):
            problems += check_source(package, path, table)
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    problems = check(parser.parse_args().root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
