"""A lever has two halves: an entry of the catalogue, and what applies it in the hook."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HOOK = ROOT / "python/unstarve/hook/_unstarve_hook/tuning/levers"
CATALOGUE = ROOT / "src/tune/levers"
GOLDEN = ROOT / "tests/golden/levers"
#: What a search runs and never proposes: the reference that rounding is held against.
NO_LEVER = {"float64"}


def files_of_hook() -> dict[str, str]:
    """The file of each lever, by its name."""
    for statement in ast.parse((HOOK / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "_FILES":
            return dict(ast.literal_eval(statement.value))
    raise AssertionError("levers/__init__.py has no _FILES")


def in_golden_cases() -> set[str]:
    """What the build's own list of levers asks of the hook (golden_levers_test.cpp)."""
    cases = [path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.txt")]
    return set(re.findall(r"^  hook: (\w+) ", "".join(cases), re.MULTILINE))


def test_each_lever_has_a_golden_case_and_both_halves() -> None:
    assert len(in_golden_cases()) > 20
    assert in_golden_cases() == set(files_of_hook()) - NO_LEVER


def test_each_file_of_the_catalogue_has_its_name_in_the_hook() -> None:
    files = {path.stem for path in CATALOGUE.glob("*/*.cpp") if path.parent.name != "parts"}
    assert files <= {path.stem for path in HOOK.glob("*.py")}


def test_each_file_of_a_lever_is_there_and_used() -> None:
    files = {path.stem for path in HOOK.glob("*.py")} - {"__init__"}
    assert set(files_of_hook().values()) <= files
