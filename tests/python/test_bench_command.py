"""`unstarve bench` as a user or a script calls it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PHOTOS = Path(__file__).resolve().parents[1] / "data" / "photos"
# `make` links the built program beside the Python that runs the tests.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
UNSTARVE = shutil.which("unstarve", path=PATH)

pytestmark = pytest.mark.skipif(UNSTARVE is None, reason="the unstarve program is not on PATH")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    assert UNSTARVE is not None
    return subprocess.run(
        [UNSTARVE, "bench", *arguments], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("task", ["rrc224", "eval224"])
def test_json_has_the_agreed_numbers(task: str) -> None:
    done = bench(str(PHOTOS), "--task", task, "--threads", "1", "--seconds", "0.1", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    for key in (
        "images_per_s",
        "images_per_cpu_s",
        "bytes_per_s",
        "peak_rss_bytes",
        "first_batch_s",
    ):
        assert result[key] > 0, key
    assert result["threads"] == 1
    assert result["images"] % 60 == 0


def test_unreadable_input_is_exit_code_2(tmp_path: Path) -> None:
    for arguments in (["/no/such"], [str(tmp_path)], [str(PHOTOS), "--task", "tar"]):
        done = bench(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == ""
        assert done.stderr.startswith("unstarve: ")
