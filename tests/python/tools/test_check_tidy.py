"""The tidy check fails on what it is there to catch."""

import subprocess
from pathlib import Path

import check_tidy
import pytest


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    plant(tmp_path, "src/base/README.md", "what it is\n")
    plant(tmp_path, "src/base/good.h", "#pragma once\n\n// A full sentence.\n")
    return tmp_path


def plant(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_tidy_tree_passes(tree: Path) -> None:
    assert check_tidy.check(tree) == []


LEFT_OVER = "TO" + "DO"
HIDING = "importor" + "skip"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("src/base/a.cpp", "int a = 0 +" + " 1 +" * 30 + " 1;\n", "columns; at most 100"),
        ("docs/a.md", "word " * 24 + "\n" + "word " * 25, "a.md:2: 125 columns; at most 120"),
        ("src/base/io/a.h", "#pragma once\n", "src/base/io: no README.md"),
        ("src/base/a.cpp", "\n" * 501, "501 lines; at most 500"),
        ("src/base/a.h", "#pragma once\n" + "\n" * 200, "201 lines; at most 200"),
        ("src/base/a.h", "int a();\n", "no #pragma once"),
        ("src/base/a.cpp", f"// {LEFT_OVER}: later\n", "docs/known_gaps.md"),
        ("src/base/a.cpp", "// -----------\n", "section banner"),
        ("tools/a.py", "# ======= part =======\n", "section banner"),
        ("tests/a_test.py", f"pytest.{HIDING}('torch')\n", "install it instead"),
        ("src/base/README.md", "\n" * 31, "31 lines; at most 30"),
        ("python/unstarve/order/README.md", "\n" * 31, "31 lines; at most 30"),
        ("README.md", "\n" * 121, "121 lines; at most 120"),
        ("src/host/a.cpp", "int a;\n", "no README.md"),
        ("python/unstarve/order/epoch.py", "", "python/unstarve/order: no README.md"),
    ],
)
def test_planted_faults(tree: Path, name: str, text: str, complaint: str) -> None:
    plant(tree, name, text)
    problems = check_tidy.check(tree)
    assert len(problems) == 1
    assert complaint in problems[0]


def test_a_crowded_folder(tree: Path) -> None:
    for index in range(15):
        plant(tree, f"src/base/part_{index}.h", "#pragma once\n")
        plant(tree, f"src/base/part_{index}.cpp", "int a;\n")
        plant(tree, f"src/base/part_{index}_test.cpp", "int a;\n")
        plant(tree, f"src/base/testing/made_{index}.h", "#pragma once\n")
        plant(tree, f"src/base/testing/set_{index}.h", "#pragma once\n")
    assert "16 sources; at most 15" in check_tidy.check(tree)[0]


def test_ignored_and_deleted_files_are_not_looked_at(tree: Path) -> None:
    plant(tree, ".gitignore", "/build\n")
    plant(tree, "build/a.h", "no pragma\n")
    plant(tree, "src/base/gone.h", "no pragma\n")
    subprocess.run(["git", "-C", str(tree), "add", "src"], check=True)
    (tree / "src/base/gone.h").unlink()
    assert check_tidy.check(tree) == []


def test_tables_may_be_wide(tree: Path) -> None:
    plant(tree, "docs/a.md", "| " + "word " * 30 + "|\n\n    " + "code " * 30 + "\n")
    assert check_tidy.check(tree) == []


def test_long_addresses_may_stay(tree: Path) -> None:
    plant(tree, "src/base/a.cpp", "// https://example.org/" + "a" * 120 + "\n")
    assert check_tidy.check(tree) == []
