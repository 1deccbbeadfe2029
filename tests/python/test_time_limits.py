"""A test that hangs is ended with all that it started, and says where (tests/time_limits.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pytest_runs import run_pytest

HANGING = """
import subprocess, sys, time

def test_that_hangs(tmp_path_factory):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("pid", child.pid, flush=True)
    while_it_hangs()

def while_it_hangs():
    time.sleep(600)

def test_behind_it():
    pass
"""


@pytest.mark.parametrize("alone", [True, False])
def test_the_limit_ends_what_hangs_with_all_that_it_started(tmp_path: Path, alone: bool) -> None:
    processes = [] if alone else ["-n", "1"]
    limit = ["--timeout", "3", "--timeout-method", "thread"]
    done = run_pytest(tmp_path, *processes, *limit, test_hanging=HANGING)
    assert done.returncode == 1
    assert "test_hanging.py::test_that_hangs took longer than 3 s" in done.stderr
    assert re.search(r'test_hanging.py", line \d+ in while_it_hangs', done.stderr)
    pid = re.search(r"pid (\d+)", done.stderr)
    assert pid is not None and not Path(f"/proc/{pid.group(1)}").exists()
    assert alone or "1 failed, 1 passed" in done.stdout  # in the process that follows
