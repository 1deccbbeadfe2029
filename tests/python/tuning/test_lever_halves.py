"""A lever has two halves: an entry of the catalogue, and what applies it in the hook."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HOOK = ROOT / "python/unstarve/hook/_unstarve_hook/tuning/levers"
CATALOGUE = sorted((ROOT / "src/tune/levers").glob("*.cpp"))
#: What a search runs and never proposes: the reference that rounding is held against.
NO_LEVER = {"float64"}


def files_of_hook() -> dict[str, str]:
    """The file of each lever, by its name."""
    for statement in ast.parse((HOOK / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "_FILES":
            return dict(ast.literal_eval(statement.value))
    raise AssertionError("levers/__init__.py has no _FILES")


def test_each_lever_of_the_hook_is_in_the_catalogue() -> None:
    catalogue = "".join(path.read_text(encoding="utf-8") for path in CATALOGUE)
    missing = {name for name in files_of_hook() if f'"{name}"' not in catalogue}
    assert missing == NO_LEVER


def test_each_lever_of_the_catalogue_is_in_the_hook() -> None:
    catalogue = "".join(path.read_text(encoding="utf-8") for path in CATALOGUE)
    named = set(re.findall(r'hook_lever\(\s*"(\w+)"', catalogue))
    assert len(named) > 10
    assert named <= set(files_of_hook())


def test_each_file_of_a_lever_is_there_and_used() -> None:
    files = {path.stem for path in HOOK.glob("*.py")} - {"__init__"}
    assert set(files_of_hook().values()) <= files
