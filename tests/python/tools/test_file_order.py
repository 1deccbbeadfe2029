"""Files of tests come in an order of luck that its seed gives again (tests/conftest.py)."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_runs import run_pytest

FILES = {f"test_{name}": "def test_one(): pass\ndef test_two(): pass" for name in "abcdef"}


def test_the_order_of_files_is_the_seeds(tmp_path: Path) -> None:
    def order(*options: str) -> list[str]:
        out = run_pytest(tmp_path, "--collect-only", "-qq", *options, **FILES).stdout
        return re.findall(r"(test_\w)\.py::test_one\n\1\.py::test_two", out)

    drawn = run_pytest(tmp_path, "--collect-only", "-qq", **FILES).stdout
    seed = re.search(r"order of the files: (--file-seed=\d+)\n", drawn)
    assert seed is not None
    assert sorted(order(seed.group(1))) == sorted(FILES)
    assert order(seed.group(1)) == re.findall(r"(test_\w)\.py::test_one", drawn)
    assert order("--file-seed=1") != order("--file-seed=2")


def test_all_processes_have_one_order(tmp_path: Path) -> None:
    """pytest-xdist refuses to begin otherwise."""
    done = run_pytest(tmp_path, "-n", "2", "--dist", "loadfile", **FILES)
    assert done.returncode == 0, done.stdout
    assert "12 passed" in done.stdout
