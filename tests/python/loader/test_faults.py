"""The fault loop of `bench/faults.py`, shortened: every part, with fewer files and kills."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command_line import ROOT, UNSTARVE


@pytest.mark.parametrize(
    ("part", "options"),
    [
        ("jpegs", ["--count", "250"]),
        ("tars", ["--count", "150"]),
        ("shards", ["--count", "200"]),
        ("copies", ["--count", "100"]),
        ("train", ["--kills", "4"]),
        ("list", ["--kills", "3"]),
        ("pack", ["--kills", "4"]),
        ("cache", ["--kills", "4"]),
        ("ends", []),
        ("forks", []),
        ("changes", ["--seconds", "1"]),
        ("full", []),
        ("cachefull", ["--disks", "2"]),
        ("leaks", ["--loaders", "40"]),
    ],
)
def test_no_violation(part: str, options: list[str]) -> None:
    script = str(ROOT / "bench/faults.py")
    command = [sys.executable, script, "--unstarve", str(UNSTARVE), "--only", part, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{part}: " in done.stdout
    assert done.stdout.endswith("no violation\n")
