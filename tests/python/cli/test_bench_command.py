"""`unstarve bench` as a user or a script calls it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import PHOTOS, UNSTARVE


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(UNSTARVE), "bench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
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


def test_a_folder_whose_name_is_no_utf_8_is_named(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"a\xffb")
    (folder / "photos").mkdir(parents=True)
    for photo in PHOTOS.glob("*.jpg"):
        shutil.copy(photo, folder / "photos")
    done = bench(str(folder), "--threads", "1", "--first-batch", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["source"].endswith("a\ufffdb")
