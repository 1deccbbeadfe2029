"""A test that hangs is ended with all that it started, and says where (tests/time_limits.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pytest_runs import run_pytest

HANGING = """
import pathlib, signal, subprocess, sys, threading, time
import time_limits

time_limits.GRACE_S = 1.0
CHILD = [sys.executable, "-c", "import time; time.sleep(600)"]

def while_it_hangs():
    time.sleep(600)

def test_that_hangs():
    child = subprocess.Popen(CHILD)
    pathlib.Path("pid").write_text(str(child.pid))
    while_it_hangs()

def test_behind_it():
    pass
"""

DEAF = HANGING.replace(
    "    while_it_hangs()\n",
    "    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n    while_it_hangs()\n",
)
LIMIT = ["--timeout", "2", "--timeout-method", "thread"]


def is_gone(folder: Path) -> bool:
    return not Path("/proc", (folder / "pid").read_text()).exists()


def test_a_test_that_hangs_fails_and_the_next_one_runs(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, *LIMIT, test_hanging=HANGING)
    assert done.returncode == 1
    assert "Failed: it took longer than 2 s" in done.stdout
    assert re.search(r'test_hanging.py", line \d+ in while_it_hangs', done.stdout)
    assert "this test left behind:" in done.stdout and is_gone(tmp_path)
    assert "1 failed, 1 passed, 1 error" in done.stdout


@pytest.mark.parametrize("alone", [True, False])
def test_where_no_signal_comes_through_the_process_ends(tmp_path: Path, alone: bool) -> None:
    processes = [] if alone else ["-n", "1"]
    done = run_pytest(tmp_path, *processes, *LIMIT, test_hanging=DEAF)
    assert done.returncode == 1
    assert "test_hanging.py::test_that_hangs took longer than 2 s" in done.stderr
    assert re.search(r'test_hanging.py", line \d+ in while_it_hangs', done.stderr)
    assert is_gone(tmp_path)
    assert alone or "1 failed, 1 passed" in done.stdout  # in the process that follows
