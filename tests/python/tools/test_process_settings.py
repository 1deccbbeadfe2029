"""A file of tests that changes its process fails, by what it changed."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_runs import run_pytest

CHANGES = """
import os
import torch

def test_changes():
    torch.set_num_threads(3)
    os.environ["LEFT_BY_A_TEST"] = "1"
    os.chdir("/")

def test_in_the_same_file():
    assert torch.get_num_threads() == 3
"""
LATER = """
import os
from pathlib import Path
import torch

def test_later():
    assert torch.get_num_threads() == 1
    assert "LEFT_BY_A_TEST" not in os.environ
    assert Path.cwd() == Path(__file__).parent
"""
AT_IMPORT = """
import torch
torch.set_num_threads(3)

def test_nothing():
    pass
"""


def test_a_change_fails_its_file_and_reaches_no_other(tmp_path: Path) -> None:
    files = {"test_changes": CHANGES, "test_later": LATER}
    done = run_pytest(tmp_path, "test_changes.py", "test_later.py", "--file-seed=0", **files)
    for name in ("test_changes", "test_in_the_same_file", "test_later"):
        assert re.search(rf"::{name} PASSED", done.stdout), done.stdout
    assert re.search(r"::test_in_the_same_file ERROR|::test_changes ERROR", done.stdout)
    for change in ("environment's LEFT_BY_A_TEST: none -> 1", "torch's threads: 1 -> 3"):
        assert change in done.stdout
    assert f"working directory: {tmp_path} -> /" in done.stdout
    assert "1 error" in done.stdout


def test_a_change_by_an_import_is_refused(tmp_path: Path) -> None:
    files = {"conftest_torch": "import torch", "test_at_import": AT_IMPORT, "test_later": LATER}
    done = run_pytest(tmp_path, "-p", "conftest_torch", **files)
    assert "importing this file changed the process:" in done.stdout
    assert re.search(r"torch's threads: \d+ -> 3", done.stdout), done.stdout
    assert done.returncode == 2
